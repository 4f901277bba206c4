/** A message of a web shop, about 800 bytes in the body of a batch. */
export const call = (number: number) => ({
  userId: `user-${number % 1_000}`,
  event: 'Order Completed',
  properties: {
    orderId: `order-${number}`,
    total: 47.93,
    currency: 'EUR',
    coupon: null,
    products: [
      { sku: 'sku-1', name: 'Espresso beans', price: 14.99, quantity: 2 },
      { sku: 'sku-4', name: 'Café crème', price: 17.95, quantity: 1 },
    ],
    note: 'Please leave it at the door, and do not ring: the dog would have to be let out again. '.repeat(2),
  },
  context: {
    ip: '203.0.113.7',
    locale: 'de-DE',
    page: { path: '/checkout/done', referrer: 'https://shop.example/checkout', title: 'Thank you' },
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  },
})
