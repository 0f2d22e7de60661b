/** `node test/support/report/sum.ts FILE`: prints how many tests passed, failed and were skipped in the runs whose results are in FILE. */
import { countAll, sum } from './results.ts';
import { readResults } from './results-file.ts';

const [path = ''] = process.argv.slice(2);
const { passed, failed, skipped } = sum(readResults(path).map(countAll));
process.stdout.write(`${passed} ${failed} ${skipped}\n`);
