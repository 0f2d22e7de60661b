import { beforeEach, describe, expect, it } from 'vitest';
import { createXidLog, type XidLog } from '../../../src/agent/facts/xid-log.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { RunResult } from '../../../src/agent/host/port.ts';
import { NOW, virtualClock } from '../../support/virtual-clock.ts';

const BOOTS = ' 0 7a1b Mon 2029-12-31 09:01:00 UTC—Tue 2030-01-01 11:00:00 UTC';
const FELL = "NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

let host: MemoryHost;
let commands: string[];
let answers: { boots: Partial<RunResult>; errors: Partial<RunResult> };

beforeEach(() => {
  host = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
  commands = [];
  const MESSAGE = JSON.stringify({
    __CURSOR: 's=1',
    __REALTIME_TIMESTAMP: `${NOW.getTime() - 5000}000`,
    MESSAGE: FELL,
  });
  answers = { boots: { output: BOOTS }, errors: { output: `${MESSAGE}\n` } };
});

async function run(argv: readonly string[]): Promise<RunResult> {
  commands.push(argv.join(' '));
  const answer = argv.includes('--list-boots') ? answers.boots : answers.errors;
  return { exitCode: 0, timedOut: false, truncated: false, output: '', ...answer };
}

function open(programs = true): XidLog {
  return createXidLog({
    files: host.files,
    processes: { ...host.processes, run },
    capabilities: { ...host.capabilities, programs },
  });
}

async function withGpu(): Promise<void> {
  await host.files.makeDirectory('/proc/driver/nvidia/gpus/0000:91:00.0');
}

describe('createXidLog', () => {
  it('asks nothing of a host without a GPU of NVIDIA, or without programs', async () => {
    expect(await open().read(NOW)).toBeUndefined();
    await withGpu();
    expect(await open(false).read(NOW)).toBeUndefined();
    expect(commands).toEqual([]);
  });

  it('reads a week first, and then what is new', async () => {
    await withGpu();
    const log = open();
    const at = new Date(NOW.getTime() - 5000).toISOString();
    const expected = { xid: [{ code: 79, gpu: 0, at }], xidSince: '2029-12-31T09:01:00.000Z' };
    expect(await log.read(NOW)).toEqual(expected);
    answers.errors = { exitCode: 1 };
    expect(await log.read(new Date(NOW.getTime() + 30_000))).toEqual(expected);
    const seconds = NOW.getTime() / 1000;
    expect(commands.map((each) => /--since=@(\d+)/.exec(each)?.[1])).toEqual([
      undefined,
      `${seconds - 604_800}`,
      `${seconds - 60}`,
    ]);
  });

  it('R1 reads the week again after the clock was set back: errors may be logged before the last time', async () => {
    await withGpu();
    const log = open();
    await log.read(new Date(NOW.getTime() + 86_400_000));
    commands = [];
    await log.read(NOW);
    expect(commands.map((each) => /--since=@(\d+)/.exec(each)?.[1])).toEqual([
      `${NOW.getTime() / 1000 - 604_800}`,
    ]);
  });

  it('R1 reads the newest errors of the kernel alone, whatever other programs log in its name', async () => {
    await withGpu();
    await open().read(NOW);
    expect(commands.at(-1)).toMatch(/--grep=NVRM: Xid .*--reverse --lines=1000 .*_TRANSPORT=kernel$/);
    expect(commands.at(-1)).not.toContain('--identifier');
  });

  it('R1 knows nothing of the time before a thousand lines, which are as many as it reads', async () => {
    await withGpu();
    const lines = Array.from({ length: 1000 }, (_, index) =>
      JSON.stringify({
        __CURSOR: `s=${index}`,
        __REALTIME_TIMESTAMP: `${NOW.getTime() - 1000 * (index + 1)}000`,
        MESSAGE: FELL.replace(' 79,', index % 2 ? ' 79,' : ' 31,'),
      }),
    );
    answers.errors = { output: `${lines.join('\n')}\n` };
    const report = await open().read(NOW);
    expect(report?.xidOthersSince).toBe(new Date(NOW.getTime() - 1_000_000).toISOString());
  });

  it.each<[name: string, boots: Partial<RunResult>, errors: Partial<RunResult>]>([
    ['no boots', { output: '' }, {}],
    ['an error', { output: BOOTS }, { exitCode: 1, output: 'Failed to open journal' }],
    ['no journalctl', { exitCode: 127 }, {}],
    ['too much', { output: BOOTS }, { truncated: true }],
  ])('R1 knows nothing when the journal answers with %s', async (_, boots, errors) => {
    await withGpu();
    answers = { boots, errors };
    await expect(open().read(NOW)).rejects.toThrow(/journal/);
  });
});
