"""The vocabulary that the bookshop's catalogue is made of."""

from __future__ import annotations

CATEGORIES = (
    "Fiction",
    "Mystery",
    "History",
    "Travel",
    "Science",
    "Poetry",
    "Cookery",
    "Nature",
    "Biography",
    "Children",
)

ADJECTIVES = (
    "Amber", "Borrowed", "Bright", "Broken", "Copper", "Crooked", "Distant", "Drowned", "Early", "Empty",
    "Eleventh", "Faithful", "Feathered", "Forgotten", "Frozen", "Gentle", "Gilded", "Hidden", "Hollow", "Honest",
    "Inland", "Ivory", "Late", "Lesser", "Little", "Lost", "Midnight", "Narrow", "Northern", "Paper",
    "Patient", "Quiet", "Restless", "Salt", "Crimson", "Second", "Silver", "Slow", "Untold", "Winter",
)  # fmt: skip

NOUNS = (
    "Almanac", "Atlas", "Bakery", "Bridge", "Cartographer", "Clockmaker", "Coast", "Comet", "Compass", "Courier",
    "Ferry", "Garden", "Glasshouse", "Harbour", "Heron", "Island", "Kitchen", "Lantern", "Letter", "Library",
    "Lighthouse", "Marsh", "Meadow", "Mirror", "Mountain", "Observatory", "Orchard", "Ocean", "Parlour", "Piano",
    "Quarry", "Railway", "River", "School", "Signal", "Tailor", "Theatre", "Tide", "Valley", "Window",
)  # fmt: skip

PLACES = (
    "Aberlow", "Bramhall", "Calder Vale", "Corvara", "Dunmere", "Eastwick", "Fenwater", "Galway Road", "Hartsea",
    "Ilmington", "Jarrow Street", "Kestrel Bay", "Lindisholm", "Marrowby", "Nettlecombe", "Old Varna", "Portnell",
    "Quayside", "Ravenscar", "Saltmarket", "Tarn End", "Ullswick", "Vellamo", "Westering", "Yarrow Hill",
    "Zennor Lane", "Ashdown", "Birchover", "Coldharbour", "Dove Street", "Elmsworth", "Farthing Wood", "Greyfriars",
    "Holm Sound", "Ivy Court", "Juniper Row", "Kingsferry", "Larkrise", "Mill Lane", "Northgate",
)  # fmt: skip

FIRST_NAMES = (
    "Ada", "Bruno", "Clara", "Dario", "Edith", "Femi", "Greta", "Hanif", "Ines", "Jonas",
    "Katya", "Leon", "Mara", "Nils", "Odile", "Pavel", "Quinn", "Rosa", "Samir", "Thea",
)  # fmt: skip

LAST_NAMES = (
    "Abernathy", "Bergström", "Carvalho", "Delacroix", "Eriksen", "Fairweather", "Grünwald", "Hollis", "Ibarra",
    "Janssen", "Kowalska", "Lindqvist", "Montague", "Novák", "Okafor", "Pemberton", "Quintero", "Rasmussen",
    "Sørensen",
)  # fmt: skip

PUBLISHERS = (
    "Harbour & Vine",
    "Nightingale Press",
    "Third Floor Books",
    "Pale Horse",
    "Longacre",
    "Tin Lantern",
    "Orrery House",
)

TAGS = (
    "award winner", "book club", "coming of age", "debut", "essays", "family", "folklore", "illustrated", "islands",
    "letters", "local author", "maps", "memoir", "night trains", "recipes", "sea", "short chapters", "signed copies",
    "slow burn", "translated",
)  # fmt: skip

OPENINGS = (
    "Every spring the people of {place} set a table for someone who has not arrived yet.",
    "It begins with a parcel, addressed in green ink, that nobody in {place} remembers ordering.",
    "For eleven years {name} has kept the same hours, the same coat and the same secret.",
    "When the last ferry leaves {place} without her, {name} decides to walk the whole way round.",
    "There are two ways to read this book, and {name} recommends neither of them.",
    "A storm, a locked room and a very old map bring {name} back to {place}.",
    "Nobody had asked the tides of {place} for an opinion until {name} started to write them down.",
    "{name} arrives in {place} with one suitcase and leaves, a year later, with a town's worth of stories.",
)

MIDDLES = (
    "What follows is told in short, patient chapters, each of which turns a little further from the shore.",
    "Part notebook and part argument, it asks what a place owes to those who look after it.",
    "Along the way there are borrowed bicycles, unreliable barometers and a dinner that lasts for three days.",
    "The author spent four winters with the people in these pages, and it shows in every line of dialogue.",
    "It is a book about attention: to weather, to bread, to the way that neighbours say good night.",
    "Drawn from letters that were thought to be lost, it corrects a good deal of what we believed we knew.",
    "Readers who came for the puzzle will stay for the kitchen scenes.",
    "Funny, exact and never in a hurry, it leaves out everything that does not matter.",
)

CLOSINGS = (
    "By the last page the question has changed, and so has the person who asked it.",
    "The ending has divided our staff room; we would love to hear which side you are on.",
    "Keep it by the door, for the days when you would rather be somewhere else.",
    "It is the kind of book that is given to a friend with the corners already folded.",
    "We have sold it by hand, one conversation at a time, since the week in which it came out.",
    "Read it slowly; there is a second story in the chapter titles.",
)

EDITION_NOTES = (
    "This edition has a fold-out map.",
    "This edition has a new foreword by {name}.",
    "This edition restores the two chapters that were cut in the first printing.",
    "This edition is printed on recycled paper from a mill near {place}.",
    "This edition includes questions for reading groups.",
    "This edition corrects the misprints of the first one.",
    "This edition closes with a conversation between the author and {name}.",
)

REVIEWS = (
    "I missed my stop twice.",
    "My father read it, then my daughter, then the dog got hold of it. We bought another.",
    "Better than the film will be.",
    "The recipe on the ninth page works, by the way.",
    "A little long in the middle, and I did not want it to end.",
    "I learned more about harbours than I had planned to.",
    "Kept me company through a whole week of night shifts.",
    "Not what the cover promises. I mean that as praise.",
)
