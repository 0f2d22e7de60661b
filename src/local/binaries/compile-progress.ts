/** Describes why a build runs and how far it is, for the person who waits for it. Each line does: a terminal may show only the last one. */

const REASON = 'once, as no release can be downloaded';

export function describeModules(downloaded: number): string {
  return `downloading the Go modules of the control plane, ${REASON}: ${downloaded} so far`;
}

/** Before this, the first packages say nothing about the others. */
const LEAST_SHARE = 0.03;

export function describeCompiling(compiled: number, packages: number, elapsedMs: number): string {
  const share = packages === 0 ? 0 : Math.min(1, compiled / packages);
  const percent = `${Math.floor(share * 100)} % (${compiled} of at most ${packages} packages)`;
  const done = `compiling the control plane, ${REASON}: ${percent}`;
  if (share < LEAST_SHARE) return done;
  const leftMs = (elapsedMs * (1 - share)) / share;
  return `${done}, ${describeRest(leftMs)}`;
}

function describeRest(ms: number): string {
  if (ms < 60_000) return 'less than a minute left';
  const minutes = Math.round(ms / 60_000);
  return `about ${minutes} minute${minutes === 1 ? '' : 's'} left`;
}
