"""The vocabulary of control names in English and Chinese, as data for `names.py`. Pure.

Rule: two words are synonyms only if a person would use either without hesitation. "Apply" is not "Save", and
"Allow" is not "Accept". Words are in lowercase, without punctuation.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CONCEPTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # actions
        "log in": ("log in", "login", "log on", "logon", "sign in", "signin", "sign on", "登录", "登陆", "登入", "签入"),
        "log out": ("log out", "logout", "log off", "logoff", "sign out", "signout", "sign off", "退出登录", "注销", "登出"),
        "register": ("register", "sign up", "signup", "create account", "create an account", "join", "注册", "创建账户", "创建账号"),
        "search": ("search", "find", "look up", "lookup", "搜索", "查找", "搜寻", "检索", "搜一下", "查询"),
        "save": ("save", "保存", "存储", "储存"),
        "apply": ("apply", "应用"),
        "update": ("update", "更新"),
        "submit": ("submit", "send", "提交", "发送", "送出"),
        "delete": ("delete", "erase", "destroy", "删除"),
        "remove": ("remove", "take out", "移除", "去掉"),
        "clear": ("clear", "empty", "清空", "清除"),
        "cancel": ("cancel", "abort", "取消"),
        "discard": ("discard", "throw away", "放弃", "丢弃", "舍弃"),
        "close": ("close", "dismiss", "关闭"),
        "back": ("back", "go back", "返回", "后退"),
        "forward": ("next", "continue", "proceed", "go on", "forward", "下一步", "继续", "前进"),
        "reset": ("reset", "重置"),
        "restore": ("restore", "恢复"),
        "undo": ("undo", "revert", "撤销"),
        "redo": ("redo", "重做"),
        "confirm": ("confirm", "ok", "okay", "yes", "确认", "确定", "是"),
        "refuse": ("no", "decline", "reject", "refuse", "deny", "拒绝", "否"),
        "accept": ("accept", "agree", "接受", "同意"),
        "allow": ("allow", "允许"),
        "add": ("add", "put", "添加", "加入", "增加", "新增"),
        "cart": ("cart", "basket", "bag", "trolley", "购物车", "购物篮"),
        "buy": ("buy", "purchase", "购买", "买"),
        "order": ("order", "place order", "place your order", "complete order", "complete purchase", "下单", "提交订单", "订单"),
        "check out": ("check out", "checkout", "go to checkout", "proceed to checkout", "continue to checkout", "结账", "结算", "去结算"),
        "pay": ("pay", "payment", "支付", "付款"),
        "edit": ("edit", "modify", "change", "编辑", "修改", "更改"),
        "create": ("create", "make", "new", "创建", "新建"),
        "open": ("open", "打开"),
        "show": ("show", "view", "display", "查看", "显示"),
        "hide": ("hide", "隐藏"),
        "enable": ("enable", "turn on", "switch on", "activate", "启用", "开启", "激活"),
        "disable": ("disable", "turn off", "switch off", "deactivate", "禁用", "停用"),
        "subscribe": ("subscribe", "订阅"),
        "unsubscribe": ("unsubscribe", "退订", "取消订阅"),
        "follow": ("follow", "关注"),
        "unfollow": ("unfollow", "取消关注"),
        "publish": ("publish", "post", "发布", "发表"),
        "unpublish": ("unpublish",),
        "archive": ("archive", "归档"),
        "download": ("download", "下载"),
        "upload": ("upload", "上传"),
        "import": ("import", "导入"),
        "export": ("export", "导出"),
        "start": ("start", "begin", "run", "开始", "启动"),
        "stop": ("stop", "halt", "停止"),
        "finish": ("finish", "end", "done", "完成", "结束"),
        "block": ("block", "ban", "suspend", "封禁", "屏蔽"),
        "unblock": ("unblock", "unban", "解封"),
        "lock": ("lock", "锁定"),
        "unlock": ("unlock", "解锁"),
        "refund": ("refund", "退款"),
        "transfer": ("transfer", "转账", "转让"),
        "withdraw": ("withdraw", "提现", "撤回"),
        "deposit": ("deposit", "充值"),
        "approve": ("approve", "批准", "审批"),
        "print": ("print", "打印"),
        "copy": ("copy", "复制"),
        "duplicate": ("duplicate", "clone"),
        "move": ("move", "移动"),
        "share": ("share", "分享"),
        "reply": ("reply", "answer", "respond", "回复"),
        "like": ("like", "赞", "点赞"),
        "filter": ("filter", "筛选"),
        "sort": ("sort", "排序"),
        "refresh": ("refresh", "reload", "刷新"),
        "install": ("install", "安装"),
        "uninstall": ("uninstall", "卸载"),
        "connect": ("connect", "连接", "绑定"),
        "disconnect": ("disconnect", "断开", "解绑"),
        "upgrade": ("upgrade", "升级"),
        "downgrade": ("downgrade", "降级"),
        # fields and destinations
        "username": ("username", "user name", "user", "user id", "userid", "login name", "用户名", "用户", "用户名称"),
        "account": ("account", "账户", "账号", "帐号", "帐户"),
        "password": ("password", "passphrase", "passcode", "密码", "口令"),
        "email": ("email", "e mail", "email address", "e mail address", "mail address", "邮箱", "电子邮件", "电子邮箱", "邮件地址", "邮箱地址"),
        "phone": ("phone", "phone number", "telephone", "telephone number", "mobile", "mobile number", "mobile phone", "手机", "手机号", "手机号码", "电话", "电话号码"),
        "name": ("name", "姓名", "名字", "名称"),
        "first name": ("first name", "given name", "forename", "名"),
        "last name": ("last name", "family name", "surname", "姓", "姓氏"),
        "full name": ("full name", "全名"),
        "address": ("address", "street address", "地址"),
        "street": ("street", "街道"),
        "city": ("city", "town", "城市"),
        "postcode": ("zip", "zip code", "zipcode", "postcode", "postal code", "post code", "邮编", "邮政编码"),
        "country": ("country", "国家"),
        "state": ("state", "province", "region", "省", "省份"),
        "quantity": ("quantity", "qty", "how many", "数量"),
        "amount": ("amount", "金额"),
        "price": ("price", "价格"),
        "card number": ("card number", "credit card number", "卡号", "银行卡号", "信用卡号"),
        "card code": ("cvc", "cvv", "security code", "card code", "安全码"),
        "code": ("code", "verification code", "one time code", "otp", "验证码", "校验码"),
        "summary": ("summary", "digest", "摘要"),
        "expiry": ("expires", "expiry", "expiry date", "expiration date", "valid until", "expires on", "有效期"),
        "date": ("date", "日期"),
        "message": ("message", "comment", "comments", "留言", "消息", "评论"),
        "settings": ("settings", "preferences", "options", "设置", "选项", "偏好设置"),
        "language": ("language", "语言"),
        "theme": ("theme", "appearance", "主题", "外观"),
        "help": ("help", "support", "帮助"),
        "home": ("home", "首页", "主页"),
        "profile": ("profile", "个人资料"),
        "remember": ("remember me", "stay signed in", "keep me signed in", "stay logged in", "keep me logged in", "remember", "记住我", "保持登录"),
        "newsletter": ("newsletter", "新闻邮件"),
    }
)  # fmt: skip
"""Functions of controls, with their words. The longest words match first."""

MODIFIERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "not": ("not", "don t", "dont", "do not", "without", "never", "un", "不", "不要", "无", "非", "别"),
        "all": ("all", "every", "everything", "全部", "所有"),
        "none": ("none",),
        "new": ("new", "新"),
        "old": ("old", "current", "existing", "旧", "当前", "原"),
        "again": ("confirm", "repeat", "again", "retype", "re enter", "确认", "重复", "再次"),
        "first": ("first", "第一"),
        "last": ("last", "final", "最后"),
        "previous": ("previous", "prev", "上一"),
        "from": ("from",),
        "to": ("to",),
        "minimum": ("min", "minimum", "least", "最小", "最低"),
        "maximum": ("max", "maximum", "most", "最大", "最高"),
        "billing": ("billing", "账单"),
        "shipping": ("shipping", "delivery", "配送", "收货"),
        "work": ("work", "business", "company", "公司"),
        "left": ("left", "左"),
        "right": ("right", "右"),
        "up": ("up", "上"),
        "down": ("down", "下"),
        "more": ("more", "plus", "increase", "更多"),
        "less": ("less", "fewer", "minus", "decrease", "更少"),
        "on": ("on",),
        "off": ("off",),
        "with": ("with", "via", "using", "通过", "使用"),
        "forgotten": ("forgot", "forgotten", "lost", "忘记"),
        "private": ("private", "私密"),
        "public": ("public", "公开"),
    }
)  # fmt: skip
"""Qualifiers that distinguish controls with the same function, with their words."""

EMPTY_WORDS = frozenset(
    {
        "a", "an", "the", "your", "my", "our", "please", "now", "here", "this", "it", "and", "of", "in", "for",
        "enter", "type", "click", "press", "go", "changes", "field", "button", "请", "输入", "请输入", "您的",
        "你的", "我的", "的", "按钮", "立即", "点击", "了", "到", "去",
    }
)  # fmt: skip
"""Words without meaning for the comparison of two controls."""

GRAVE = frozenset(
    {
        "delete", "remove", "clear", "discard", "buy", "order", "pay", "refund", "transfer", "withdraw", "deposit",
        "unsubscribe", "disable", "block", "uninstall", "disconnect", "downgrade", "publish", "submit", "approve",
        "archive", "stop", "reset", "cancel", "log out",
    }
)  # fmt: skip
"""Critical functions. Their names must match in full: "Delete" is not "Delete account"."""

FOR_ONE_OF_MANY = frozenset(
    {
        "delete", "remove", "edit", "buy", "add", "cart", "show", "open", "order", "move", "cancel", "like",
        "share", "reply", "quantity", "pay", "save", "copy", "download", "archive", "approve", "refuse", "accept",
        "block", "more", "less", "up", "down", "refund", "publish", "confirm", "close", "back", "forward", "enable", "disable",
        "subscribe", "unsubscribe", "connect", "disconnect", "start", "stop", "clear", "reset", "update", "submit",
        "hide", "all", "print", "check out", "install", "uninstall", "upgrade",
    }
)  # fmt: skip
"""Functions on one of many objects. Such a name alone does not identify the object."""
