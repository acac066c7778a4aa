import { makeHistory } from '../history.mjs';

const PRICE = `export function priceWithTax(net, rate) {
  return Math.round(net * (1 + rate) * 100) / 100;
}
`;

const PRICE_WITH_DISCOUNT = `export function priceWithTax(net, rate) {
  return Math.round(net * (1 + rate) * 100) / 100;
}

export function discounted(net, percent) {
  if (percent > 100) throw new Error('percent');
  return net - net * percent / 100;
}
`;

/** A shop with one merged commit and a branch under review that forgets negative discounts. */
export default async function make(dir) {
  makeHistory(dir, [
    { message: 'Compute prices with tax', files: { 'src/price.js': PRICE, 'README.md': '# Shop\n' } },
    {
      message: 'Add discounts',
      branch: 'add-discounts',
      files: {
        'src/price.js': PRICE_WITH_DISCOUNT,
        'src/cart.js':
          "import { discounted } from './price.js';\n\nexport const total = (net, percent) => discounted(net, percent);\n",
      },
    },
  ]);
}
