/** CPU time of the processes of a browser: that of its page, and the others. */
import type { CDPSession } from 'playwright-core';

interface ProcessInfo {
  readonly type: string;
  readonly id: number;
  /** In seconds. */
  readonly cpuTime: number;
}

export interface BrowserCpu {
  /** Of the processes that run pages: script, style, layout, and the commands of paints. */
  readonly page: number;
  /** Of the others: network, and pixels, which Chromium draws on the CPU where there is no graphics card. */
  readonly others: number;
}

export async function browserCpuSeconds(session: CDPSession): Promise<BrowserCpu> {
  const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as {
    readonly processInfo: readonly ProcessInfo[];
  };
  const sum = (found: readonly ProcessInfo[]): number =>
    found.reduce((total, { cpuTime }) => total + cpuTime, 0);
  const [page, others] = [true, false].map((isPage) =>
    sum(processInfo.filter(({ type }) => (type === 'renderer') === isPage)),
  ) as [number, number];
  return { page, others };
}
