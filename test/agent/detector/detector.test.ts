import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DetectorOptions, runDetector } from '../../../src/agent/detector/detector.ts';
import type { DetectedEvent } from '../../../src/agent/detector/match/condition.ts';
import type { HostFiles } from '../../../src/agent/host/port.ts';
import { createSandboxHost, type SandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { DETECTOR_REARM_FILE } from '../../../src/agent/layout.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { fileMonitor } from '../../support/agent/detector-config.ts';
import { type FakeNode, fakeNode } from '../../support/agent/fake-node.ts';
import { endSandbox, openSandbox } from '../../support/agent/sandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const FOLDER = '/etc/kubenode/detector';
const LOG = '/var/log/kern.log';
/** Longer than a monitor takes to read a line. */
const SLOW_DISK_MS = 700;
let directory: string;
let host: SandboxHost;
let node: FakeNode;
let log: MemoryLog;
let events: (DetectedEvent & { readonly source: string })[];
let abort: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  directory = tempFolder('detector');
  host = await openSandbox(directory);
  node = fakeNode();
  log = memoryLog();
  events = [];
  write(LOG, '');
});

afterEach(async () => {
  await stop();
  await host.close();
  await endSandbox(directory);
});

describe('detector', () => {
  it('AGT-70 reports a condition for a line of a log, as an Event, too', async () => {
    write(`${FOLDER}/file.json`, JSON.stringify(fileMonitor));
    start();
    await statusOf('False');
    append('bad line 7');
    await statusOf('True');
    expect(node.condition('FileProblem')).toMatchObject({ reason: 'BadLine', message: 'bad line 7' });
    expect(events.map(({ source, reason }) => [source, reason])).toEqual([['file-monitor', 'BadLine']]);
  });

  it('AGT-73 keeps what was raised over a restart, reads no line twice, and forgets it with a new boot', async () => {
    write(`${FOLDER}/file.json`, JSON.stringify({ ...fileMonitor, lookback: '1h' }));
    start();
    await statusOf('False');
    append('bad line 7');
    await statusOf('True');
    await stop();
    append('bad line 8');
    start();
    await eventually(async () => node.writes.length >= 3 || undefined, 'nothing was reported again');
    expect(node.writes.at(-1)).toEqual(['FileProblem True BadLine']);
    expect(node.condition('FileProblem')?.message).toBe('bad line 7');
    await stop();
    await host.node.reboot();
    write(LOG, '');
    start();
    await statusOf('False');
    expect(events.map(({ reason }) => reason)).toEqual(['BadLine']);
  });

  it('AGT-73 forgets what was raised when the host of a sandbox boots, whose agent lives on', async () => {
    write(`${FOLDER}/file.json`, JSON.stringify({ ...fileMonitor, lookback: '1h' }));
    start();
    await statusOf('False');
    append('bad line 7');
    await statusOf('True');
    await host.node.reboot();
    write(LOG, '');
    await statusOf('False');
    expect(node.writes.at(-1)).toEqual(['FileProblem False NoFileProblem']);
  });

  it('AGT-73 starts its monitors again soon after such a boot, before it reads its configuration again', async () => {
    const clock = virtualClock();
    write(`${FOLDER}/file.json`, JSON.stringify(fileMonitor));
    start({ clock });
    await eventually(async () => starts() === 1 || undefined, 'the detector did not start');
    await host.node.reboot();
    await eventually(async () => {
      if (clock.sleepers > 0 && clock.monotonicMs() < 5000) await clock.advance(200);
      return starts() > 1 || undefined;
    }, 'the boot was not noticed');
    expect(clock.monotonicMs()).toBeLessThan(10_000);
  });

  it('AGT-73 forgets what was raised when a job rearms it, and counts only what comes then', async () => {
    write(`${FOLDER}/file.json`, JSON.stringify({ ...fileMonitor, lookback: '1h' }));
    start();
    await statusOf('False');
    append('bad line 7');
    await statusOf('True');
    write(DETECTOR_REARM_FILE, 'job');
    await statusOf('False');
    expect(await host.files.stat(DETECTOR_REARM_FILE)).toBeUndefined();
    append('bad line 8');
    await statusOf('True');
    expect(node.condition('FileProblem')?.message).toBe('bad line 8');
  });

  it('AGT-70 reads lines of a host whose clock was ahead when it booted, and set back since', async () => {
    await host.close();
    const system = createSystemClock();
    const ahead = { ...system, now: () => new Date(system.now().getTime() + 3_600_000) };
    directory = tempFolder('ahead');
    host = createSandboxHost({ directory, clock: ahead });
    await host.open();
    await host.close();
    host = await openSandbox(directory);
    expect((await host.node.facts()).bootedAt.getTime()).toBeGreaterThan(system.now().getTime());
    write(LOG, '');
    write(`${FOLDER}/file.json`, JSON.stringify(fileMonitor));
    start();
    await statusOf('False');
    append('bad line 7');
    await statusOf('True');
  });

  it('AGT-73 keeps what was raised by each of two files with one source', async () => {
    const [first, second] = ['FileProblem', 'OtherProblem'];
    const text = JSON.stringify(fileMonitor);
    write(`${FOLDER}/first.json`, text.replaceAll('bad line', 'first line'));
    write(
      `${FOLDER}/second.json`,
      text.replaceAll('bad line', 'second line').replaceAll('FileProblem', second),
    );
    start();
    await statusOf('False');
    append('first line 1');
    append('second line 2');
    const isRaised = async (): Promise<true | undefined> =>
      [first, second].every((type) => node.condition(type)?.status === 'True') || undefined;
    await eventually(isRaised, 'the conditions were not raised');
    await stop();
    const before = node.writes.length;
    start();
    await eventually(async () => node.writes.length > before || undefined, 'nothing was reported again');
    expect(node.writes.at(-1)).toEqual(['FileProblem True BadLine', 'OtherProblem True BadLine']);
  });

  it('uses a configuration that changes, and removes the conditions of one that is removed', async () => {
    start();
    write(`${FOLDER}/file.json`, JSON.stringify(fileMonitor));
    await statusOf('False');
    rmSync(`${directory}${FOLDER}`, { recursive: true });
    await eventually(async () => (node.condition('FileProblem') ? undefined : true), 'the condition stayed');
    expect(node.writes.at(-1)).toEqual([]);
  });

  it('AGT-72 makes no Event of a line while another program reports the conditions of its source', async () => {
    const rules = [
      ...(fileMonitor['rules'] as readonly object[]),
      { type: 'temporary', reason: 'Oom', pattern: 'oom \\d+' },
    ];
    write(`${FOLDER}/file.json`, JSON.stringify({ ...fileMonitor, rules }));
    const second = JSON.stringify({ ...fileMonitor, source: 'other-monitor' });
    write(
      `${FOLDER}/other.json`,
      second.replaceAll('FileProblem', 'OtherProblem').replaceAll('bad', 'other'),
    );
    node.patchAs('node-problem-detector', 'FileProblem', createSystemClock().now());
    start();
    // Lines from before the monitors follow the file are not read.
    await eventually(
      async () => node.condition('OtherProblem')?.status === 'False' || undefined,
      'the monitors did not start',
    );
    append('oom 1');
    append('bad line 2');
    append('other line 3');
    await eventually(
      async () => node.condition('OtherProblem')?.status === 'True' || undefined,
      'the other condition was not raised',
    );
    node.patchAs('node-problem-detector', 'FileProblem', createSystemClock().now());
    await eventually(async () => events.length > 0 || undefined, 'no Event was made');
    expect(events.map(({ source, reason }) => [source, reason])).toContainEqual(['other-monitor', 'BadLine']);
    expect(events.filter(({ source }) => source === 'file-monitor')).toEqual([]);
    expect(node.condition('FileProblem')?.reason).toBe('Other');
  });

  it('does without a file that it refuses, and reports why in its log and an Event', async () => {
    write(`${FOLDER}/bad.json`, JSON.stringify({ ...fileMonitor, rules: [{ type: 'x', reason: 'R' }] }));
    write(`${FOLDER}/file.json`, JSON.stringify(fileMonitor));
    start();
    await statusOf('False');
    const because = 'bad.json: rules[0] (R).type: expected temporary or permanent, got "x"';
    expect(log.lines).toContainEqual(
      expect.objectContaining({ message: 'file of the problem detector refused', fields: { because } }),
    );
    expect(events).toEqual([
      { source: 'kubenode.dev/agent', type: 'Warning', reason: 'AgentDetectorRefused', message: because },
    ]);
  });

  it('AGT-73 is on the disk before it is reported', async () => {
    write(`${FOLDER}/file.json`, JSON.stringify(fileMonitor));
    const saved: string[] = [];
    node.beforeWrite = () => saved.push(readFileSync(`${directory}/var/lib/kubenode/detector.json`, 'utf8'));
    start();
    await statusOf('False');
    append('bad line 7');
    await statusOf('True');
    expect(saved.at(-1)).toContain('bad line 7');
  });

  it('AGT-73 is on the disk before it is reported, also what was raised while the disk was slow', async () => {
    const text = JSON.stringify(fileMonitor);
    write(`${FOLDER}/first.json`, text.replaceAll('bad line', 'first line'));
    const second = text.replaceAll('bad line', 'second line').replaceAll('FileProblem', 'OtherProblem');
    write(`${FOLDER}/second.json`, second);
    const clock = createSystemClock();
    const slow: HostFiles['write'] = async (path, content, options) => {
      await host.files.write(path, content, options);
      const state = new TextDecoder().decode(content);
      if (!state.includes('first line 1') || state.includes('second line 2')) return;
      append('second line 2');
      await clock.sleep(SLOW_DISK_MS);
    };
    const files = withFiles({ write: slow });
    const saved: string[] = [];
    node.beforeWrite = () => saved.push(readFileSync(`${directory}/var/lib/kubenode/detector.json`, 'utf8'));
    start({ host: { ...host, files } });
    await statusOf('False');
    append('first line 1');
    await eventually(
      async () => node.condition('OtherProblem')?.status === 'True' || undefined,
      'not raised',
    );
    expect(node.writes.map((each) => each.join(', ').includes('OtherProblem True'))).toEqual(
      saved.map((each) => each.includes('second line 2')),
    );
  });

  it('AGT-73 keeps reporting while its state cannot be saved, and rearms once for each request', async () => {
    const state = `${directory}/var/lib/kubenode/detector.json`;
    write(`${FOLDER}/file.json`, JSON.stringify(fileMonitor));
    start();
    await statusOf('False');
    // A directory in its place fails each write, as a full disk does.
    rmSync(state);
    mkdirSync(state);
    append('bad line 7');
    await statusOf('True');
    write(DETECTOR_REARM_FILE, 'job');
    await statusOf('False');
    append('bad line 8');
    await statusOf('True');
    rmSync(state, { recursive: true });
    await eventually(
      async () => (await host.files.stat(DETECTOR_REARM_FILE)) === undefined || undefined,
      'the request stayed',
    );
    expect(readFileSync(state, 'utf8')).toContain('bad line 8');
    const messages = log.lines.map(({ message }) => message);
    expect(messages.filter((message) => message === 'problem detector rearmed')).toHaveLength(1);
    expect(messages.filter((message) => message.endsWith('not saved'))).toHaveLength(1);
  });

  it('reads the configuration again when it changed while it was read', async () => {
    const clock = virtualClock();
    let lists = 0;
    let noteChange: Parameters<HostFiles['watch']>[1] | undefined;
    const changing: Partial<HostFiles> = {
      async list(path) {
        const names = await host.files.list(path);
        lists += 1;
        if (lists === 1) noteChange?.(path);
        return names;
      },
      watch(paths, onChange) {
        noteChange = onChange;
        return host.files.watch(paths, onChange);
      },
    };
    mkdirSync(`${directory}${FOLDER}`, { recursive: true });
    start({ host: { ...host, files: withFiles(changing) }, clock });
    await eventually(async () => {
      // Sooner than the next regular read.
      if (clock.sleepers > 0 && clock.monotonicMs() < 5000) await clock.advance(200);
      return lists > 1 || undefined;
    }, 'the configuration was not read again');
    expect(clock.monotonicMs()).toBeLessThan(10_000);
  });

  it('reports nothing, and asks the API server nothing, without a configuration', async () => {
    rmSync(`${directory}/etc`, { recursive: true, force: true });
    start();
    await eventually(async () => log.lines.length === 0 || undefined, 'something was logged');
    await stop();
    expect(node.writes).toEqual([]);
  });
});

/** Those of the host, but for these. */
function withFiles(changed: Partial<HostFiles>): HostFiles {
  return new Proxy(host.files, {
    get: (target, name: keyof HostFiles) => changed[name] ?? target[name].bind(target),
  });
}

function start(given: Partial<Pick<DetectorOptions, 'host' | 'clock'>> = {}): void {
  abort = new AbortController();
  const options = { host, api: node.api, events: { record }, clock: createSystemClock(), log, ...given };
  running = runDetector({ ...options, programs: async () => undefined }, abort.signal);
}

function record(source: string, found: readonly DetectedEvent[]): void {
  events.push(...found.map((event) => ({ source, ...event })));
}

async function stop(): Promise<void> {
  abort.abort();
  await running;
}

function starts(): number {
  return log.lines.filter(({ message }) => message === 'problem detector configured').length;
}

async function statusOf(status: string): Promise<void> {
  await eventually(
    async () => node.condition('FileProblem')?.status === status || undefined,
    `the condition did not become ${status}`,
    20_000,
  );
}

function write(path: string, content: string): void {
  mkdirSync(dirname(`${directory}${path}`), { recursive: true });
  writeFileSync(`${directory}${path}`, content);
}

function append(message: string): void {
  const [, month, day = '', , clock] = createSystemClock().now().toString().split(' ');
  const time = `${month} ${day.replace(/^0/, ' ')} ${clock}`;
  appendFileSync(`${directory}${LOG}`, `${time} node kernel: [  1.0] ${message}\n`);
}
