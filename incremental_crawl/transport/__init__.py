"""The network: one httpx transport over aiohttp and the gates in front of it."""
