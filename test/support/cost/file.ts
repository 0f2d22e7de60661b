/** A setup file of vitest that adds the cost of a test file to its results. It is registered before the leak guard, so that it measures last. */
import { afterAll } from 'vitest';
import { startMeter } from './meter.ts';

const read = startMeter();
// oxlint-disable-next-line no-empty-pattern -- vitest wants a pattern
afterAll(({}, file) => {
  file.meta.cost = read();
});
