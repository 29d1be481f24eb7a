"""Texts of our own, and how many tokens of the o200k vocabulary each is, as a tokenizer counted them."""

PROSE = (
    "The harbour was quiet when the last ferry came in. A boy carried two baskets of oranges down the pier, "
    "counting the planks as he went, and the old keeper of the lighthouse watched him from the stairs. "
    "Nobody had told either of them that the storm, which everyone expected on Tuesday, "
    "had already turned north."
)
CODE = '''
def merge(first: list[int], second: list[int]) -> list[int]:
    """Two sorted lists as one."""
    result: list[int] = []
    i = j = 0
    while i < len(first) and j < len(second):
        if first[i] <= second[j]:
            result.append(first[i])
            i += 1
        else:
            result.append(second[j])
            j += 1
    return result + first[i:] + second[j:]
'''
JSON = (
    '{"name":"get_forecast","parameters":{"type":"object","properties":{"city":{"type":"string","description":'
    '"Name of the city"},"days":{"type":"integer","minimum":1,"maximum":14}},"required":["city"]},"rows":'
    '[{"id":17,"price":12.50,"tags":["new","sale"]},{"id":18,"price":7.25,"tags":[]}]}'
)
CHINESE = (
    "今天早上下了一场大雨，街上的行人都撑着伞匆匆走过。图书馆的门口站着一位老人，他正在等他的孙女放学回家。"
    "雨停以后，空气变得非常清新，孩子们又跑到公园里去玩了。"
)
JAPANESE = (
    "昨日の夜、友達と一緒に新しいレストランへ行きました。料理はとても美味しくて、値段も高くなかったです。"
    "来週もう一度行くつもりです。"
)
KOREAN = "어제는 친구와 함께 새로 생긴 식당에 갔습니다. 음식이 아주 맛있었고 가격도 비싸지 않았습니다."
GERMAN = (
    "Die Nachbarin hat gestern Abend noch lange im Garten gearbeitet, weil für heute Regen angekündigt war. "
    "Ihre Tomaten müssen bald geerntet werden, sonst verfaulen sie an den Stöcken."
)
EMOJI = "Well done 🎉🎉 see you at the party 🚀 bring cake 🍰 and friends 👋😀"
LOG = "2026-11-28T09:14:03.127Z WARN [worker-3] request_id=9f2c41d07ab3e655 path=/api/v1/users took=812ms"

EXACT = (
    (CHINESE, 69),
    (CODE, 101),
    (EMOJI, 22),
    (GERMAN, 43),
    (JAPANESE, 50),
    (JSON, 83),
    (KOREAN, 32),
    (LOG, 45),
    (PROSE, 64),
)
