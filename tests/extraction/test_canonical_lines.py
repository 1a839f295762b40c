"""Canonical lines: what of a page counts, line by line, and where each line stands."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from incremental_crawl.extraction.canonical_lines import PlacedLines, html_lines, plain_lines


def placed(html: str) -> PlacedLines:
    return html_lines(LexborHTMLParser(html.encode("utf-8", "replace")))


def lines(html: str) -> list[str]:
    return list(placed(html).lines)


def path_of(html: str, line: str) -> int:
    found = placed(html)
    return found.paths[found.lines.index(line)]


def test_each_text_node_is_a_line_with_its_white_space_collapsed() -> None:
    assert lines("<p>one \n  two <b>three</b>\tfour</p>") == ["one two", "three", "four"]


def test_a_comment_does_not_part_a_text() -> None:
    assert lines("<p>one <!-- web-17 -->two</p>") == lines("<p>one two</p>") == ["one two"]


def test_links_and_images_are_lines() -> None:
    html = (
        '<a href="/a?b=1#part">more</a><img src="/cover.png?v=3"><img src="data:image/gif;base64,R0" data-src="/x.png">'
    )
    assert lines(html) == ["a </a?b=1>", "more", "img </cover.png>", "img </x.png>"]


@pytest.mark.parametrize(
    "href",
    [
        "/a?_=17",
        "/a?utm_source=x&utm_medium=y",
        "/a?PHPSESSID=1f",
        "/a;jsessionid=77",
        "/a?csrf_token=9",
        "/a#top",
        " /a\n",
    ],
)
def test_what_names_a_session_or_a_load_is_left_out_of_links(href: str) -> None:
    assert lines(f'<a href="{href}">x</a>') == ["a </a>", "x"]


@pytest.mark.parametrize("href", ["/watch?v=dQw4", "/a?id=7", "/a?page=2", "/a?q="])
def test_what_names_a_page_stays_in_links(href: str) -> None:
    assert lines(f'<a href="{href}">x</a>') == [f"a <{href}>", "x"]


@pytest.mark.parametrize("href", ["#part", "", "javascript:void(0)", "data:text/plain,x"])
def test_links_that_lead_nowhere_are_no_lines(href: str) -> None:
    assert lines(f'<a href="{href}">x</a>') == ["x"]


def test_a_whole_document_in_a_pre_is_a_line_for_each_of_its_lines() -> None:
    assert lines("<pre>one\r\n  two\n\n\tthree   four  \n</pre>") == ["one", "  two", "\tthree   four"]


def test_markup_inside_a_pre_does_not_break_its_lines() -> None:
    html = "<pre><span>def</span> <a href='/f'>f</a>():\n    <b>return</b> 1</pre>"
    assert lines(html) == ["def f():", "    return 1", "a </f>"]


def test_scripts_inside_a_pre_are_not_text() -> None:
    assert lines("<pre>one<script>var nonce = 1</script> two</pre>") == ["one", "two"]


def test_a_long_text_outside_of_pre_is_split_at_its_line_ends() -> None:
    text = "\n".join(f"line {number} of a document" for number in range(200))
    assert lines(f"<div>{text}</div>") == text.split("\n")


def test_what_is_not_seen_is_no_line() -> None:
    html = (
        "<head><title>t</title><style>a{}</style></head><body>seen<script>x</script><style>y</style><noscript>n</noscript>"
        "<template>t</template><svg><text>s</text></svg><iframe>f</iframe><!-- c --></body>"
    )
    assert lines(html) == ["seen"]


@pytest.mark.parametrize(
    "element",
    [
        '<div class="related">x</div>',
        '<div class="relatedPosts">x</div>',
        '<div class="cookie-banner">x</div>',
        '<section class="post-share-buttons share-buttons">x</section>',
        '<ul class="social-links">x</ul>',
        '<div class="ad-slot">x</div>',
        '<div class="newsletter-signup">x</div>',
        '<div role="dialog">x</div>',
        "<dialog open>x</dialog>",
        "<aside>x</aside>",
    ],
)
def test_furniture_is_left_out(element: str) -> None:
    content = "<p>" + "content of some length " * 5 + "</p>"
    assert lines(content + element + content) == lines(content + content)


@pytest.mark.parametrize(
    "element",
    [
        '<div class="share-price">x</div>',
        '<section id="related" class="section">x</section>',
        '<section class="related-work">x</section>',
        '<div class="unrelated">x</div>',
        '<aside class="footnote-list">x</aside>',
        '<aside class="admonition">x</aside>',
        '<p class="cookie-recipe">x</p>',
        '<div class="header">x</div>',
        '<main class="related">x</main>',
    ],
)
def test_content_with_a_similar_name_stays(element: str) -> None:
    assert "x" in lines("<p>" + "content of some length " * 5 + "</p>" + element)


def test_furniture_that_holds_most_of_the_page_stays() -> None:
    assert lines('<div class="share"><p>the whole article is in here</p></div><p>end</p>') == [
        "the whole article is in here",
        "end",
    ]


@pytest.mark.parametrize(
    ("line", "scrubbed"),
    [
        ("3 minutes ago", "…"),
        ("Updated 2 hours ago", "Updated …"),
        ("Posted by alice 5 min ago · 17 comments", "Posted by alice …·…"),
        ("Views: 1,042", "…"),
        ("12,345 views", "…"),
        ("Generated in 12 ms", "…"),
        ("Server time: 14:03:22", "…"),
        ("just now", "…"),
    ],
)
def test_what_a_load_says_of_itself_is_scrubbed(line: str, scrubbed: str) -> None:
    assert lines(f"<p>{line}</p>") == [scrubbed]


@pytest.mark.parametrize(
    "line",
    [
        "It was removed 5 years ago from the language",
        "The 14:03 train leaves at 14:05",
        "14:03",
        "2026-01-05",
        "Price: 12.50",
        "Two points of views 3",
        "Commit 1f3a9c0d77",
        "It is generated in 12 ms by the new parser",
    ],
)
def test_numbers_in_content_are_never_scrubbed(line: str) -> None:
    assert lines(f"<p>{line}</p>") == [line]


def test_nothing_in_a_pre_is_scrubbed() -> None:
    assert lines("<pre>3 minutes ago</pre>") == ["3 minutes ago"]


def test_equal_places_have_equal_paths_whatever_a_load_makes_up() -> None:
    one = '<div class="list css-1x9k2"><p class="n x">a</p></div>'
    other = '<div class="css-77aa1 list"><p class="x n">b</p></div>'
    assert path_of(one, "a") == path_of(other, "b")
    assert path_of(one, "a") != path_of('<div class="other"><p class="n x">a</p></div>', "a")


def test_entries_of_a_list_share_their_container_and_two_lists_of_other_names_do_not() -> None:
    html = '<ul class="m"><li><a href="/1">x</a></li><li>y</li></ul><ul class="n"><li>z</li></ul>'
    assert path_of(html, "x") >> 32 == path_of(html, "y") >> 32 != path_of(html, "z") >> 32


def test_paths_are_the_same_in_every_process() -> None:
    assert path_of("<main><p>x</p></main>", "x") == 7653832910809892951


def test_text_after_a_nul_counts() -> None:
    assert lines("<p>before</p><p>x\0y</p><p>after</p>")[-1] == "after"


def test_lines_are_composed_and_can_be_encoded() -> None:
    assert lines("<p>cafe\u0301 &#xD83D; \u000b</p>") == ["café \ufffd"]


def test_a_page_of_five_thousand_nested_elements_is_walked() -> None:
    assert lines("<div>" * 5_000 + "deep") == ["deep"]


def test_a_page_without_text_has_no_lines() -> None:
    assert placed("") == placed("<p> </p>") == PlacedLines((), ())


def test_plain_text_keeps_its_indentation() -> None:
    assert plain_lines("one\n  <two>  \n\n").lines == ("one", "  <two>")


@given(st.text(max_size=200))
def test_any_text_gives_lines_that_can_be_stored(text: str) -> None:
    found = placed(f"<main>{text}</main><p>end</p>")
    assert len(found.lines) == len(found.paths)
    for line, path in zip(found.lines, found.paths, strict=True):
        assert line.encode().decode() == line == unicodedata.normalize("NFC", line)
        assert line.strip()
        assert 0 <= path < 2**63


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<b>", "</ul>", "<li>", "<pre>", "x", " ", "<!--", "-->", "<a href=y>"]),
        max_size=30,
    )
)
def test_the_lines_of_a_page_do_not_depend_on_what_was_extracted_before(parts: list[str]) -> None:
    html = "".join(parts)
    first = placed(html)
    placed('<div class="a"><p id="b">other</p></div>')
    assert placed(html) == first
