"""Detection of instructions: whether a sentence requests an action or only mentions it. Pure.

Rule: only an instruction causes an action. Questions, negations, conditions and names of page parts ("the
login page") are no instructions. A polite question ("could you log in?") is one. In doubt, a sentence is no
instruction.
"""

from __future__ import annotations

import re

from cdpengine.cache.recognizing.conditionals import is_conditional

NEGATIONS = (
    "do not", "don't", "don’t", "dont", "never", "without", "not", "no need to", "instead of", "rather than",
    "avoid", "cannot", "can't", "can’t", "couldn't", "couldn’t", "won't", "won’t", "wouldn't", "shouldn't",
    "mustn't", "didn't", "doesn't", "unable to", "failed to", "fails to", "refuse to", "stop", "skip", "forgot to",
    "hold off", "put off", "postpone", "delay", "defer", "quit", "cease", "give up",
    "forget about", "ignore", "forbid", "neither", "nor", "hardly", "by no means", "no circumstances",
    "pretend", "hate", "dislike", "regret", "none of", "nobody", "no one", "no-one", "few of",
    "不要", "不用", "不需要", "无需", "无须", "别", "没有", "没", "不", "取消", "避免", "勿", "无法", "没法",
    "禁止", "拒绝", "忘记", "忘了", "停止", "暂停", "暂缓", "推迟", "延后", "延迟", "撤销", "放弃", "阻止",
    "防止", "跳过", "讨厌", "未", "没人", "谁也不", "谁都不", "假装", "模拟", "禁用", "停用", "屏蔽", "绕过",
)  # fmt: skip
"""Words that negate the following phrase. A few other words can come between them."""

_HAN = r"\u3400-\u9fff"
CLAUSE = re.compile(
    r"[,，。；;!！?？\n]|\.(?=\s|$)|\b(?:and|then|but|after|before)\b|然后|再|并|之后|但|接着", re.IGNORECASE
)
"""Clause boundaries."""

_SENTENCE = re.compile(r"[。！？；\n]|[.!?;]+(?=\s|$)")


def _one_of(words: str) -> str:
    return "(?:" + "|".join(word.replace(" ", r"\s+") for word in words.split(", ")) + ")"


def _compile(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


_NEGATED = _compile(
    r"(?:(?<![A-Za-z])(?:"
    + "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in NEGATIONS if re.match("[a-z]", word))
    + r")(?:\s+(?!forget\b)[a-z']+){0,2}\s+|(?:"
    + "|".join(word for word in NEGATIONS if not re.match("[a-z]", word))
    + rf")[{_HAN}]{{0,2}}\s*)$"
)

# --- questions -----------------------------------------------------------------------------------------------

_OPENING = r"^\s*(?:(?:hi|hello|hey|ok|okay|now|so|then|and|also|first|please|well|你好|请问?|麻烦)[\s,，]*)*"
_PEOPLE = _one_of(
    "i, we, one, it, he, she, they, users?, people, someone, anyone, guests?, the, this, that, my, there"
)
_AUXILIARY = _one_of("is, are, was, were, do, does, did, can, could, should, will, would, has, have")
_POLITE = _compile(
    _OPENING
    + r"(?:(?:can|could|would|will)\s+you\b"
    + r"|[你您]?(?:能|可以|能否|能不能|可否|可不可以|是否可以)请?[你您]?(?:帮|给|替|请))"
)
_ASKS = _compile(
    _OPENING
    + rf"(?:(?:how|what|what's|why|who|whose|which)\b|(?:when|where)\s+{_AUXILIARY}\b"
    + r"|(?:is|are|was|were|am|does|did|isn't|aren't|doesn't|didn't)\b"
    + rf"|(?:do|don't|can|could|can't|may|might|should|shall|must|will|would|has|have|had)\s+(?:{_PEOPLE}|you)\b)"
)
_ASKS_WITHIN = _compile(
    r"\b(?:how|whether|why)\b[^,，]*$"
    r"|\b(?:where|when|what|which|who)\s+(?:to|do|does|can|i|you|we|one|happens)\b[^,，]*$"
)
_ASKS_IN_CHINESE = re.compile(
    "如何|怎么|怎样|怎麼|为什么|为何|为啥|哪里|哪儿|哪个|在哪|什么|谁|是否|多少|是不是|有没有|要不要|需不需要"
    r"|能不能|可不可以|[吗嗎么呢]\s*$"
)


def is_polite_question(sentence: str) -> bool:
    """Return whether a sentence is an instruction in the form of a question: "could you log in?"."""
    return _POLITE.match(sentence) is not None


def _is_question(sentence: str, place: int, ending: str, *, content: bool) -> bool:
    """Return whether a sentence is a question rather than an instruction.

    place: the position of the phrase. content: the words after the phrase are content and do not count.
    """
    if is_polite_question(sentence):
        return False
    before = sentence[:place]
    if _ASKS.match(sentence) or _ASKS_WITHIN.search(before):
        return True
    if content and not before.strip():
        return False
    return bool(re.search("[?？]", ending) or _ASKS_IN_CHINESE.search(sentence))


# --- the words before and after a phrase -----------------------------------------------------------------------

_DESCRIBES = _compile(
    r"\b(?:screenshot|screen\s+shot|picture|photo|capture|describe|summari[sz]e|explain|read|inspect|analy[sz]e"
    r"|review|count|text\s+of|title\s+of|wait\s+(?:for|until)|check\s+(?:if|whether|that)|verify|look\s+at|tell\s+me"
    r"|compare|extract)\b|截图|截屏|截一?[张个]|拍|描述|总结|概括|解释|说明|告诉|检查|等待|阅读|读取|看看|看一下|分析"
)
_BEFORE = _compile(
    r"(?<![A-Za-z])(?:"
    r"(?:if|when|whenever|before|after|once|until|unless|while|since|because|that)\s+"
    r"(?:(?:i|you|we|they|he|she|it|one|users?|people|someone)\s+)?"
    r"(?:(?:can|could|must|have\s+to|has\s+to|need\s+to|want\s+to|do|try\s+to|already)\s+)?"
    r"|(?:users?|people|they|he|she|it|one|visitors?|customers?|everyone|anyone|someone|nobody|members?|guests?)\s+"
    r"(?:can|could|may|might|should|must|will|would|has\s+to|have\s+to|needs?\s+to)\s+(?:(?:also|only|then|now)\s+)?"
    r"|(?:users|people|customers|visitors|members|guests|they|i|we)\s+(?:(?:always|usually|often|only)\s+)?"
    r"|(?:says?|said|reads|saying|wrote|writes|writing|replie[sd]|answer(?:s|ed)|claim(?:s|ed)|labell?ed|called|named|titled)\s*[:,：，]?\s+"
    r"|(?:i|we)(?:\s+(?:will|shall|might|may|should)|['’]ll)\s+(?:(?:also|only|then|now)\s+)?"
    r"|(?:asked|told|prompted|forced|invited|allowed|supposed|expected|about|going)\s+to\s+"
    r"|from\s+|too\s+(?:early|soon|late)\s+to\s+"
    r"|(?:asks?|asked|tells|told|wants|prompts?|prompted|forces|forced|requires|required|allows|allowed|invites"
    r"|invited)\s+(?:me|us|you|him|her|them|people|users?|visitors?|everyone|one)\s+to\s+"
    r"|you\s+(?:can|could|may|might)\s+(?:(?:also|only|then|now)\s+)?"
    r"|(?:i|we)\s+(?:can|could|did|tried\s+to|used\s+to|already)\s+"
    r"|(?:buttons?|links?|ways?|options?|page|form|place|ability|steps|instructions|attempts?|able|possible|required"
    r"|impossible|easy|hard|difficult|failed|tried)\s+to\s+"
    r")$"
    rf"|(?:如果|若|当|一旦|每次|只有|除非|用户|已经?|正在|稍后|待会儿?|等会儿?|以后|晚点|下次|改天)[{_HAN}]{{0,2}}\s*$"
    r"|(?<![帮给替为让请])[他她它]们?(?:想|要|会|能|可以|让|叫|要求|请)?(?:我|你|您|我们|用户|人)?(?:再|先|重新)?\s*$"
    r"|(?:网站|系统|页面|客服|对方)(?:让|叫|要求|提示|建议|请)(?:我|你|您|我们|用户|人)?(?:再|先|重新)?\s*$"
    rf"|(?<=[{_HAN}])(?<![我帮请])(?<!我们)(?:让|叫|要求|吩咐|命令|建议|提醒|通知)(?:[我你您他她]们?|大家|用户|员工|人)"
    rf"[{_HAN}]{{0,4}}\s*$"
    r"|(?:说|表示|写着|显示|提示)[道过]?\s*[:：,，]\s*(?:请|先|再|要)?\s*$"
    r"|(?:^|[,，。；;])\s*(?:所有|每个|每位|任何|普通|新|老)?的?(?:用户|客户|顾客|访客|会员|人们|大家)们?"
    r"(?:都|也|通常|一般|总是|经常)?(?:可以|可|会|能|需要?|应该?|必须|要|通过|使用|用|凭|在|从|先|首先)[^,，。；;:：]*$"
)
_NOUNS = (
    "page, screen, form, button, link, fields?, box, bar, icon, dialog, window, view, tab, menu, panel, section, "
    "results?, filters?, feature, function, options?, requirements?, errors?, attempts?, session, process, flow, "
    "history, status, problems?, issues?, steps, prompt, modal, popup, message, widget, cookie, state, "
    "api, engines?"
)
_PART = _compile(
    rf"[\s-]*(?:results?\s+)?{_one_of(_NOUNS)}\b(?!\s+for\b)"
    "|\\s*(?:页面|页|界面|按钮|表单|功能(?![机性])|框(?!架)|栏(?!目)|链接|入口|窗口|图标|结果)"
)
_REMARK = _compile(
    r"\s+(?:later|tomorrow|next\s+time|another\s+time)\b|\s+(?:is|are|was|were|did|does|didn't|doesn't|isn't|wasn't|has|had|hasn't|fail(?:s|ed)?)\b"
    "|\\s*(?:失败|不了|不上|不到|很|太|真的?|非常|坏|挂|崩|出错|出问题|有问题)"
)
_LONGER_REMARK = _compile(
    r"\s+(?:works?|worked|takes?|took|shows?|looks?|needs?|requires?|should|must|may|can|cannot|can't|could|would"
    r"|will|won't|broke|breaks|because)\b"
    "|\\s*(?:功能|状态|流程|方式|方法|要求|成功|错误|后(?!台)|以后|之后|前(?![台端])|以前|之前|时(?![代间])|的时候|才|过|了(?!解)"
    "|是|需要|会(?!员)|记录|宝)"
)
_DECLINED = _compile(
    r"\s*[:：,，;；.。…?？!！(（\[–—-]*\s*(?:"
    r"no[,\s]+thank(?:s|\s+you)(?:\s+you)?|no|nope|nah|no\s+way|never|never\s*mind|not\s+(?:now|yet|today)|forget\s+(?:it|that)"
    r"|don['’]?t|do\s+not|(?:rather|better|please)\s+not|i(?:['’]d|\s+would)\s+rather\s+not|(?:just\s+)?(?:kidding|joking)"
    r"|on\s+second\s+thoughts?|disabled|not\s+(?:needed|necessary|required|allowed|possible)|unnecessary|forbidden|unavailable"
    r"|不用了?|不要了?|不了|不必了?|算了|免了|不行|先不|以后再说|已?禁用|不需要了?"
    r")(?=\s*(?:[,.!;)\]，。！；）…]|$))"
)
"""Words right after a phrase that take it back: "log in: no thanks"."""
_TREATS = _compile(
    r"(?<![A-Za-z])(?:simulat(?:e|ing)|mock|stub|fak(?:e|ing)|emulat(?:e|ing)|imitat(?:e|ing)|disabl(?:e|ing)"
    r"|enabl(?:e|ing)|(?:de)?activat(?:e|ing)|block|forbid|prohibit|bypass|circumvent|restrict|allow|permit|require|configure"
    r"|implement|debug|fix|test|monitor|audit|document|automate|support|break|hack|(?:turn|switch)(?:ing)?\s+(?:on|off))\s+"
    r"(?:(?:the|a|an|this|that|any|all|our|your|my|every|user|users?['’]?|guest|social|public|automatic|auto|sso|google)\s+){0,2}$"
    r"|(?:启用|开启|关闭|开放|限制|封禁|禁止|允许|测试|配置|实现|开发|修复|调试|监控|支持)[了着]?(?:用户|自动|第三方|社交|所有|的|人){0,2}\s*$"
)
"""Verbs that make a phrase their object instead of an instruction: "disable login"."""
_DETERMINED = _compile(r"\b(?:the|an?|this|that|my|your|our|its|their|each|every|no|last|next)\s+$")
_STARTS = _compile(
    r"\b(?:do|perform|run|start|complete|finish|proceed|go|continue|make|execute|submit|repeat|use)\b"
)
_OPENS = _compile(r"\b(?:open|go|visit|navigate|show)\b|打开|进入|前往|去|到")
_LOOK = _compile(
    r"\s+(?:the|this|that|these|those|what|how|why)\b(?!\s+(?:cart|basket|bag|orders?|items?)\b)"
)


def is_instruction(text: str, start: int, end: int, *, content: bool = False, place: bool = False) -> bool:
    """Return whether the phrase from `start` to `end` is an instruction.

    content: the words after the phrase are content.
    place: the phrase names a part of the site that a user can open.
    """
    from_, to, ending = _sentence_around(text, start, end)
    if _is_question(text[from_:to], start - from_, ending, content=content):
        return False
    clause = max((pause.end() for pause in CLAUSE.finditer(text, 0, start)), default=0)
    before, behind, phrase = text[clause:start], text[end:to], text[start:end].lower()
    if _NEGATED.search(before) or _BEFORE.search(text[from_:start]) or _DESCRIBES.search(before):
        return False
    if _TREATS.search(before) or (not content and _DECLINED.match(text, end)):
        return False
    if is_conditional(text[from_:to], start - from_, end - from_, content=content):
        return False
    if _REMARK.match(behind) or (not content and _LONGER_REMARK.match(behind)):
        return False
    is_form = content and re.match(r"\s*(?:form\b|表单)", behind)
    if _PART.match(behind) and not is_form and not (place and _OPENS.search(before)):
        return False
    if phrase.isalpha() and not place and _DETERMINED.search(before) and not _STARTS.search(before):
        return False
    return not (re.fullmatch(r"check\s+out", phrase) and _LOOK.match(behind))


def asks_nothing(text: str, spoken_of: list[tuple[int, int]]) -> bool:
    """Return whether no clause contains an instruction: each is a question or a mere mention.

    spoken_of: (start, end) of each phrase that is no instruction.
    """
    begin = 0
    found = False
    pauses = [(pause.start(), pause.end()) for pause in CLAUSE.finditer(text)]
    for pause, after in [*pauses, (len(text), len(text))]:
        clause = text[begin:pause]
        if re.search(r"\w", clause):
            from_, to, ending = _sentence_around(text, begin, pause)
            asks = _is_question(text[from_:to], 0, ending, content=False)
            if not asks and not any(begin <= start < pause for start, _ in spoken_of):
                return False
            found = True
        begin = after
    return found


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int, str]:
    """Return the start, the end and the punctuation of the sentence that contains this range."""
    from_, to, ending = 0, len(text), ""
    for pause in _SENTENCE.finditer(text):
        if pause.end() <= start:
            from_ = pause.end()
        elif pause.start() >= end:
            to, ending = pause.start(), pause[0]
            break
    return from_, to, ending
