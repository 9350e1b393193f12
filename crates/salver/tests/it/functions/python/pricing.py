"""What things cost; `shop.py` imports it."""


def discounted(cents, percent):
    return cents * (100 - percent) // 100
