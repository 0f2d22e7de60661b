/** Simulates calls that take time: they wait for the virtual clock, while others continue. */
export interface VirtualWaits {
  wait(ms: number): Promise<void>;
  /** Resolves the waits that have lasted for long enough. */
  release(): void;
}

export function createVirtualWaits(nowMs: () => number): VirtualWaits {
  let waiting: { readonly atMs: number; readonly resolve: () => void }[] = [];
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        waiting.push({ atMs: nowMs() + ms, resolve });
      }),
    release: () => {
      const due = waiting.filter(({ atMs }) => atMs <= nowMs());
      waiting = waiting.filter(({ atMs }) => atMs > nowMs());
      for (const { resolve } of due) resolve();
    },
  };
}
