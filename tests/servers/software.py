"""The servers under test: Debian's packages with the configuration that a stranger would write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

LOG_FIELDS = 8
"""Every log has: method, path (or request line), status, bytes of the body, If-None-Match, If-Modified-Since,
Cache-Control, ETag sent."""


@dataclass(frozen=True)
class Nginx:
    """One process of nginx; `filters` are lines of the `location` that serves the files."""

    gzip: bool = True
    filters: str = ""
    package: ClassVar[str] = "nginx"
    program: ClassVar[str] = "/usr/sbin/nginx"

    def configuration(self, folder: Path, port: int) -> str:
        """A whole nginx.conf."""
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "\n".join(f"  {kind}_temp_path {folder}/tmp-{kind};" for kind in kinds)
        return f"""
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  types {{ text/html html; application/xml xml; }}
{temporary}
  log_format seen escape=none "$request_method\\t$request_uri\\t$status\\t$body_bytes_sent\\t$http_if_none_match\\t"
    "$http_if_modified_since\\t$http_cache_control\\t$sent_http_etag";
  access_log {folder}/access.log seen;
  gzip {"on" if self.gzip else "off"}; gzip_types application/xml; gzip_vary on;
  server {{
    listen 127.0.0.1:{port}; root {folder}/documents;
    location / {{ index index.html; {self.filters} }}
  }}
}}
"""

    def command(self, folder: Path, port: int) -> list[str]:
        """What starts it in the foreground."""
        return [self.program, "-p", str(folder), "-c", f"{folder}/server.conf", "-e", f"{folder}/error.log"]


@dataclass(frozen=True)
class Apache:
    """Apache with mod_deflate as Debian ships it; `alter_etag` is DeflateAlterETag, None leaves the default."""

    alter_etag: str | None = None
    package: ClassVar[str] = "apache2"
    program: ClassVar[str] = "/usr/sbin/apache2"

    def configuration(self, folder: Path, port: int) -> str:
        """A whole apache2.conf."""
        modules = "/usr/lib/apache2/modules"
        names = ("mpm_event", "authz_core", "dir", "mime", "filter", "deflate")
        loaded = "\n".join(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names)
        account = "User www-data\nGroup www-data" if os.geteuid() == 0 else ""
        alter = f"DeflateAlterETag {self.alter_etag}" if self.alter_etag else ""
        seen = r"%m\t%r\t%>s\t%B\t%{If-None-Match}i\t%{If-Modified-Since}i\t%{Cache-Control}i\t%{ETag}o"
        return f"""
{loaded}
ServerRoot {folder}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
DefaultRuntimeDir {folder}
PidFile {folder}/apache.pid
ErrorLog {folder}/error.log
{account}
StartServers 1
ServerLimit 1
ThreadsPerChild 16
MaxRequestWorkers 16
DocumentRoot {folder}/documents
DirectoryIndex index.html
TypesConfig /dev/null
AddType text/html .html
AddType application/xml .xml
AddOutputFilterByType DEFLATE text/html application/xml
{alter}
LogFormat "{seen}" seen
CustomLog {folder}/access.log seen
<Directory {folder}/documents>
  Require all granted
</Directory>
"""

    def command(self, folder: Path, port: int) -> list[str]:
        """What starts it in the foreground."""
        return [self.program, "-D", "FOREGROUND", "-f", f"{folder}/server.conf"]


@dataclass(frozen=True)
class Lighttpd:
    """lighttpd; files are looked at anew for each request unless `stat_cache`, which is its default."""

    deflate: bool = True
    stat_cache: bool = False
    package: ClassVar[str] = "lighttpd"
    program: ClassVar[str] = "/usr/sbin/lighttpd"

    def configuration(self, folder: Path, port: int) -> str:
        """A whole lighttpd.conf. Its log is piped, since it would keep lines of a file back for seconds."""
        seen = r"%m\t%U\t%s\t%b\t%{If-None-Match}i\t%{If-Modified-Since}i\t%{Cache-Control}i\t%{ETag}o"
        deflate = """
server.modules += ( "mod_deflate" )
deflate.mimetypes = ( "text/html", "application/xml" )
deflate.allowed-encodings = ( "gzip" )
deflate.cache-dir = ""
"""
        return f"""
server.modules = ( "mod_accesslog" )
server.document-root = "{folder}/documents"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{folder}/error.log"
server.upload-dirs = ( "{folder}" )
index-file.names = ( "index.html" )
mimetype.assign = ( ".html" => "text/html", ".xml" => "application/xml" )
accesslog.filename = "|cat >> {folder}/access.log"
accesslog.format = "{seen}"
{"" if self.stat_cache else 'server.stat-cache-engine = "disable"'}
{deflate if self.deflate else ""}
"""

    def command(self, folder: Path, port: int) -> list[str]:
        """What starts it in the foreground."""
        return [self.program, "-D", "-f", f"{folder}/server.conf"]


@dataclass(frozen=True)
class Varnish:
    """Varnish before the server at `backend_port`: fresh for `ttl_s`, revalidated in the `keep_s` after that."""

    backend_port: int
    ttl_s: float
    keep_s: float = 0.0
    package: ClassVar[str] = "varnish"
    program: ClassVar[str] = "/usr/sbin/varnishd"

    def configuration(self, folder: Path, port: int) -> str:
        """A whole VCL."""
        return f"""vcl 4.1;
backend default {{ .host = "127.0.0.1"; .port = "{self.backend_port}"; }}
sub vcl_backend_response {{
  set beresp.ttl = {self.ttl_s:.3f}s; set beresp.grace = 0s; set beresp.keep = {self.keep_s:.3f}s;
}}
"""

    def command(self, folder: Path, port: int) -> list[str]:
        """What starts it in the foreground."""
        return [
            *(self.program, "-F", "-j", "none", "-n", f"{folder}/varnish", "-f", f"{folder}/server.conf"),
            *("-a", f"127.0.0.1:{port}", "-T", "none", "-s", "malloc,16m", "-p", "thread_pools=1"),
            *("-p", "thread_pool_min=10", "-p", "thread_pool_max=50"),
        ]

    def log_command(self, folder: Path) -> list[str]:
        """What writes its access log."""
        seen = r"%m\t%U\t%s\t%b\t%{If-None-Match}i\t%{If-Modified-Since}i\t%{Cache-Control}i\t%{ETag}o"
        return ["/usr/bin/varnishncsa", "-n", f"{folder}/varnish", "-F", seen, "-w", f"{folder}/access.log", "-t", "10"]


Software = Nginx | Apache | Lighttpd | Varnish
