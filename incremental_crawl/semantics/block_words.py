"""What pages say that stand in another's place, in several languages; in case-folded text."""

from __future__ import annotations

import re

TITLE_PARTS = re.compile(r"\s+[-–—·•:»>/]\s+|[|–—·•»]|:\s+")
"""A title is made of parts: "Page not found | Shop"."""

_NOT_FOUND = (
    r"(?:the |this |requested )*page (?:you [a-z ]{4,17} )?(?:was |could |can ?|is )?(?:not|n['’]t) (?:be )?found",
    "(?:the |this )?page (?:does not|doesn['’]t) exist(?: anymore)?",
    "(?:page |seite |error )?not found",
    "(?:diese |die )?seite (?:wurde |konnte )?(?:leider )?nicht (?:ge|vor)?funden(?: werden)?",
    "(?:diese |die )?seite existiert nicht(?: mehr)?",
    "page (?:introuvable|non trouvée|inexistante)",
    "p[aá]gina no encontrada|no se encontró la página",
    "pagina (?:non trovata|inesistente)|pagina niet gevonden|página não encontrada",
    "(?:strona nie została znaleziona|nie znaleziono strony)",
    "sidan (?:hittades inte|kunde inte hittas)|siden (?:ble ikke funnet|blev ikke fundet|findes ikke)",
    "sivua ei löytynyt",
    "stránka (?:nenalezena|nebyla nalezena)|az oldal nem található|sayfa bulunamadı|pagina nu a fost găsită",
    "страница не найдена|сторінку не знайдено|η σελίδα δεν βρέθηκε",
    "ページが見つかりません(?:でした)?|页面(?:不存在|未找到)|找不到(?:页面|頁面)|페이지를 찾을 수 없습니다",
)
NOT_FOUND = re.compile(
    r"(?:(?:oops|sorry|ups|hoppla)[!,.…]*\s*)?(?:"
    r"(?:http |error |fehler |erreur |errore |código )*404(?: error)?(?:[\s:.,!–-]+(?:" + "|".join(_NOT_FOUND) + r"))?"
    r"|(?:" + "|".join(_NOT_FOUND) + r")(?:\s*[([]?404[)\]]?)?)[!.…]*"
)
"""A part of a title, or a heading, that says nothing but that there is no such page."""

_MAINTENANCE = (
    "(?:under|down for|undergoing|scheduled|planned|routine|in) maintenance|maintenance (?:mode|in progress|en cours)",
    "(?:we['’]ll|we will|we are|will) be (?:right )?back|back (?:soon|shortly|online (?:soon|shortly))",
    "(?:site|website|service|page) (?:is )?(?:temporarily|currently) (?:unavailable|offline|down)",
    "wartungs(?:arbeiten|modus|pause)|(?:gleich|bald|in kürze) wieder (?:da|erreichbar|für sie da)",
    "vorübergehend nicht (?:erreichbar|verfügbar)",
    "en maintenance|de retour (?:très )?(?:bientôt|vite)|momentanément indisponible",
    "en mantenimiento|volvemos (?:pronto|enseguida)|temporalmente no disponible",
    "in manutenzione|torniamo presto|temporaneamente non disponibile|em manutenção|voltamos (?:já|em breve)",
    "in onderhoud|onderhoudswerkzaamheden|snel weer terug|przerwa techniczna|prace (?:konserwacyjne|serwisowe)",
    "технические работы|техническое обслуживание|технічні роботи|メンテナンス中|(?:系统|網站|网站)?维护中|점검 중",
)
_CHALLENGE = (
    "checking (?:your browser|if the site connection is secure)|verifying (?:you are|your) (?:human|browser)",
    "(?:verify|confirm|prove|sure) (?:that )?you(?: are|['’]re) (?:a human|human|not a (?:ro)?bot)",
    "enable (?:javascript and )?cookies to continue|complete the security check|unusual traffic from your",
    "access to this page has been denied|pardon our interruption|ddos protection by|are you a robot\\?",
    "ich bin kein roboter|dass sie (?:ein mensch|kein roboter) sind|überprüfung ihres browsers",
    "vous (?:êtes humain|n['’]êtes pas un robot)|(?:eres|es) humano|no (?:eres|es|soy) un robot|non sei un robot",
    "вы не робот|проверка (?:вашего )?браузера|ロボットではありません|确认您是真人|验证您是真人",
)
_RATE_LIMITED = (
    "too many requests|rate limit(?:ed| exceeded| reached)|request limit (?:exceeded|reached)",
    "zu viele anfragen|trop de requêtes|demasiadas (?:solicitudes|peticiones)|troppe richieste|слишком много запросов",
)
_CONSENT = (
    "before you continue|bevor sie (?:fortfahren|weitermachen)|avant de (?:continuer|poursuivre)|antes de continuar",
    "we value your privacy|ihre privatsphäre ist uns wichtig|nous respectons votre vie privée",
    "accept (?:all )?cookies (?:to|and) continue|zustimmen und weiter|mit werbung weiterlesen|accepter et continuer",
)
_LOGIN = (
    "(?:you must|you need to|please) (?:be logged in|log in|sign in|login)(?: (?:to|before)\\b)?",
    "bitte (?:melden sie sich an|loggen sie sich ein|anmelden)|veuillez vous connecter|inicie sesión para",
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


SAID: dict[str, re.Pattern[str]] = {
    "challenge": _any_of(*_CHALLENGE),
    "rate_limited": _any_of(*_RATE_LIMITED),
    "maintenance": _any_of(*_MAINTENANCE),
    "consent": _any_of(*_CONSENT),
    "login": _any_of(*_LOGIN),
}
"""By kind, what says it anywhere on a very short page."""

IN_A_TITLE: dict[str, re.Pattern[str]] = SAID | {
    "challenge": _any_of(
        *_CHALLENGE,
        r"just a moment(?:\.\.\.|…)|attention required!|^access denied$|^security check$|^bot verification$|^captcha$",
    ),
    "maintenance": _any_of(
        *_MAINTENANCE, r"^(?:site |website )?maintenance$|^(?:temporarily )?(?:offline|unavailable)$"
    ),
    "consent": _any_of(*_CONSENT, r"^(?:cookie )?consent$"),
    "login": _any_of(*_LOGIN, r"^(?:log ?in|sign in|anmelden|anmeldung|einloggen|connexion|iniciar sesión|accedi)$"),
}
"""By kind, what says it in the title or in a heading."""
