/** `npm run promises`: prints each id of docs/promises.md with its promise and its tests, or only those of the ids that are arguments. */
import { describePromises, readPromises, unknownIds } from './promises.ts';
import { readTitles } from './read.ts';

const ids = process.argv.slice(2);
const titles = readTitles();
const unknown = unknownIds(ids, titles);
if (unknown.length > 0) {
  process.stderr.write(`no test names ${unknown.join(', ')}. List all ids: npm run promises\n`);
  process.exitCode = 1;
} else {
  // The reader may end first: `| head`.
  process.stdout.on('error', () => process.exit());
  process.stdout.write(describePromises(readPromises(), titles, ids));
}
