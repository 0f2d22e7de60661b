/**
 * The end of a test file whose tests are all skipped: vitest runs none of its hooks, and its import may have created folders.
 * The runner and a test file have no module in common, but the process.
 */
const SKIPPED = 'kubenode: all tests of the file are skipped';
const events: NodeJS.EventEmitter = process;

/** Called by each file. */
export function whenSkipped(end: () => void): void {
  events.removeAllListeners(SKIPPED);
  events.once(SKIPPED, end);
}

/** Called by the runner. */
export function endSkippedFile(): void {
  events.emit(SKIPPED);
}
