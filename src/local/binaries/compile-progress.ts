/** Describes how far a build is, for the person who waits for it. */

/** Before this, the first packages say nothing about the others. */
const LEAST_SHARE = 0.03;

export function describeCompiling(compiled: number, packages: number, elapsedMs: number): string {
  const share = packages === 0 ? 0 : Math.min(1, compiled / packages);
  const done = `building the control plane: ${Math.floor(share * 100)} % (${compiled} of at most ${packages} packages compiled)`;
  if (share < LEAST_SHARE) return done;
  const leftMs = (elapsedMs * (1 - share)) / share;
  return `${done}, ${describeRest(leftMs)}`;
}

function describeRest(ms: number): string {
  if (ms < 60_000) return 'less than a minute left';
  const minutes = Math.round(ms / 60_000);
  return `about ${minutes} minute${minutes === 1 ? '' : 's'} left`;
}
