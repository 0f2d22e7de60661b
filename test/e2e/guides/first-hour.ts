/** docs/guides/first-hour.md, as printed. What it prints is in first-hour.txt, which first-hour.test.ts compares in each run. */
import { type Guide, proven } from './guide.ts';

const FLEET = '../shop-fleet';

export const firstHour: Guide = {
  path: 'docs/guides/first-hour.md',
  instead: { '--port 8080': '--port 0' },
  expectations: [
    { at: 'sed -i', before: proven(FLEET) },
    { at: 'kubenode plan', exits: 2 },
    { at: 'kubenode status --watch', until: /\bprod\b.*\bProven\b/, end: 'Ctrl-C' },
    { at: 'release halt fleet', before: proven(FLEET) },
    {
      at: 'release accept-head',
      exits: 1,
      async before(reader) {
        await reader.run(`git -C ${FLEET} commit -q --amend -m "Another text"`);
        await reader.shows('npx kubenode status', /^fleet +SourceFailed .*NotDescendant/m);
      },
    },
    { at: 'release accept-head --yes', after: proven(FLEET) },
    {
      at: 'kubenode status',
      exits: 1,
      prints: /^test .* Held /m,
      async before(reader) {
        await reader.run(`sed -i "/new ApiObject(chart, 'namespace'/d" ${FLEET}/fleet/shop.ts`);
        await reader.run(`git -C ${FLEET} commit -qam "shop without its namespace"`);
      },
    },
    { at: 'release acknowledge', prints: /planDigest/ },
    { at: '--commit --repo', prints: /^committed / },
  ],
};
