import { beforeEach, describe, expect, it } from 'vitest';
import { HostError } from '../../../src/agent/host/errors.ts';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { STATUS_FILE } from '../../../src/agent/layout.ts';
import type { Agent } from '../../../src/agent/run/agent.ts';
import type { StoredStatus } from '../../../src/agent/status/publisher.ts';
import type { MachineComponentSpec, MachineStatus } from '../../../src/api/generated/types.ts';
import { entriesDigest } from '../../../src/api/machine/entry-report.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf, type FakeAgentApi, fakeAgentApi } from '../../support/agent/fake-api.ts';
import { openTestAgent } from '../../support/agent/open-agent.ts';
import { agentFile } from '../../support/agent/targets.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const CONFIG = '/etc/proxy/proxy.conf';
const ATTRIBUTES = { mode: '0644', owner: 'root:root' };
const V1 = componentSpec('1.0');
const V2 = componentSpec('1.1');
const [BASE, NEXT_BASE] = ['1.0', '1.1'].map((version) =>
  componentSpec(version, { component: 'base', files: [], units: [], commitAfterSeconds: 0 }),
) as [MachineComponentSpec, MachineComponentSpec];

let clock: VirtualClock;
let host: MemoryHost;
let api: FakeAgentApi;
let agent: Agent;
let events: string[];
let joinProblem: string | undefined;

beforeEach(async () => {
  clock = virtualClock();
  host = createProxyHost(clock);
  api = fakeAgentApi();
  events = [];
  joinProblem = undefined;
  await restart();
});

/** Another agent process on the same host. */
async function restart(on: MemoryHost = host, log = memoryLog()): Promise<void> {
  agent = await openTestAgent({
    host: on,
    api,
    clock,
    log,
    joinProblem: () => joinProblem,
    events: { record: (_, found) => void events.push(...found.map(({ note }) => note)) },
  });
}

async function run(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    await agent.reconcile();
    await clock.advance(5000);
  }
  await agent.reconcile();
}

async function text(path: string): Promise<string | undefined> {
  const content = await host.files.read(path);
  return content && new TextDecoder().decode(content);
}

function report(): NonNullable<MachineStatus['components']>[number] | undefined {
  return api.statuses.at(-1)?.components?.[0];
}

function condition(type: string): string {
  const found = api.statuses.at(-1)?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}`;
}

function driftMessage(): string | undefined {
  return api.statuses.at(-1)?.conditions?.find(({ type }) => type === 'DriftDetected')?.message;
}

/** How often the content of the file of the component was read. */
function countScans(): () => number {
  const read = host.files.read.bind(host.files);
  let reads = 0;
  host.files.read = async (path) => {
    if (path === CONFIG) reads += 1;
    return await read(path);
  };
  return () => reads;
}

async function runLoop(ms: number): Promise<void> {
  const stop = new AbortController();
  const running = agent.run(stop.signal);
  await clock.advance(ms);
  stop.abort();
  await clock.advance(10_000);
  await running;
}

async function install(spec: MachineComponentSpec): Promise<void> {
  api.declare([spec]);
  await run(40);
  expect(report()).toMatchObject({ state: 'Committed', currentRef: `proxy-${spec.version}` });
}

/** A version that differs in a file that no unit needs to know. */
function quiet(content: string): Partial<MachineComponentSpec> {
  return { version: `1.0-${content}`, files: [agentFile(CONFIG, content, { onChange: 'None' })] };
}

/** What `kubenode agent status` shows. */
async function storedConditions(): Promise<readonly string[]> {
  const { status } = JSON.parse((await text(STATUS_FILE)) ?? '') as StoredStatus;
  return status.conditions.map(({ type, status: value, message }) => `${type} ${value}: ${message}`);
}

function allUnknown(message: string): readonly string[] {
  return ['ComponentsReady', 'UpToDate', 'DriftDetected'].map((type) => `${type} Unknown: ${message}`);
}

describe('the loop of the agent', () => {
  it('does nothing before it knows its Machine', async () => {
    await agent.reconcile();
    expect(api.statuses).toEqual([]);
    expect([...host.files.tree().keys()].filter((path) => path.startsWith('/etc'))).toEqual([]);
  });

  it('reports on the host why it does nothing yet, and not that all is well', async () => {
    await agent.reconcile();
    expect(await storedConditions()).toEqual(
      allUnknown('the cluster has no Machine n1: create it, or correct --machine'),
    );
    api.online = false;
    await agent.reconcile();
    expect(await storedConditions()).toEqual(allUnknown('waits for the API server, to read Machine n1'));
    joinProblem = 'the token has ended';
    await agent.reconcile();
    expect(await storedConditions()).toEqual(allUnknown('the token has ended'));
  });

  it('AGT-20 commits a version after its probation, and reports each state on the way', async () => {
    api.declare([V1]);
    await agent.reconcile();
    expect(report()).toMatchObject({ state: 'Probation', desiredRef: 'proxy-1.0' });
    expect(condition('UpToDate')).toBe('False ComponentsBehind');
    await run(40);
    expect(report()).toMatchObject({ state: 'Committed', running: true, ready: true });
    expect([condition('UpToDate'), condition('ComponentsReady'), condition('DriftDetected')]).toEqual([
      'True AsWanted',
      'True AsWanted',
      'False AsWanted',
    ]);
  });

  it('AGT-20 reports an update that lasts after two seconds, and one that ends before then once', async () => {
    const short = componentSpec('1.0', { commitAfterSeconds: 1 });
    await install(short);
    const states = (from: number): readonly unknown[] =>
      api.statuses.slice(from).map(({ components }) => [components?.[0]?.desiredRef, components?.[0]?.state]);
    const before = api.statuses.length;
    api.declare([componentSpec('1.1', { commitAfterSeconds: 1 })]);
    await runLoop(1900);
    expect(states(before)).toEqual([['proxy-1.1', 'Committed']]);
    const then = api.statuses.length;
    api.declare([componentSpec('1.2', { commitAfterSeconds: 20 })]);
    await runLoop(2500);
    expect(states(then)).toEqual([['proxy-1.2', 'Probation']]);
  });

  it('AGT-20 reports with the digest of the entries, and a generation that only took the grant away later', async () => {
    await install(V1);
    const before = api.statuses.length;
    const digest = api.statuses.at(-1)?.agent?.entriesDigest;
    api.declare([V1], { granted: false });
    await run(60);
    expect(api.statuses.length).toBe(before);
    expect(digest).toBe(entriesDigest({ components: [entryOf(V1)] }));
    await run(600);
    expect(api.statuses.slice(before).map((each) => each.agent)).toEqual([
      { ...api.statuses[before - 1]?.agent, observedGeneration: 2 },
    ]);
  });

  it('records one Event of each change, also when it is started again in the middle of it', async () => {
    await install(V1);
    expect(events).toEqual(['proxy-1.0 is installed and runs']);
    api.declare([V2]);
    await run(5);
    expect(report()?.state).toBe('Probation');
    await restart();
    await run(40);
    await restart();
    await run(10);
    expect(events.slice(1)).toEqual(['proxy-1.1 is installed and runs, before: proxy-1.0']);
  });

  it('AGT-23 stages without a grant, and activates with it', async () => {
    await install(V1);
    api.declare([V2], { granted: false });
    await run(10);
    expect(report()).toMatchObject({ state: 'WaitingForGrant', currentRef: 'proxy-1.0' });
    expect(await text(CONFIG)).toBe('version 1.0\n');
    api.declare([V2]);
    await run(40);
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.1', previousRef: 'proxy-1.0' });
  });

  it('AGT-21 rolls a version back that does not start, and never tries it again', async () => {
    await install(V1);
    host.units.behave(({ exec }) => (exec?.argv[0]?.includes('1.1') ? 'FailsToStart' : 'Runs'));
    api.declare([V2]);
    await run(10);
    expect(report()).toMatchObject({
      state: 'RolledBack',
      currentRef: 'proxy-1.0',
      running: true,
      error: { code: 'UnitFailed' },
      waiting: { reason: 'Denied' },
    });
    const starts = host.units.starts.get('proxy');
    await run(60);
    expect(host.units.starts.get('proxy')).toBe(starts);
    expect(condition('ComponentsReady')).toBe('False ComponentsNotReady');
    host.units.behave(() => 'Runs');
    api.declare([V2], { spec: { retryToken: 'again' } });
    await run(40);
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.1' });
  });

  it('ROL-32 tries a version again that failed here when its set has a new retry token', async () => {
    await install(V1);
    host.units.behave(({ exec }) => (exec?.argv[0]?.includes('1.1') ? 'FailsToStart' : 'Runs'));
    const assignment = { set: 'general', revision: 'r-2' };
    const declare = (retryToken: object): void => {
      api.declare([V2], { entry: { assignment: { ...assignment, ...retryToken } } });
    };
    declare({ retryToken: 'first' });
    await run(10);
    expect(report()).toMatchObject({ state: 'RolledBack' });
    host.units.behave(() => 'Runs');
    declare({ retryToken: 'first' });
    await run(40);
    expect(report()).toMatchObject({ state: 'RolledBack' });
    declare({ retryToken: 'again' });
    await run(40);
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.1' });
  });

  it('AGT-21 reports what the version that failed printed last, on one line', async () => {
    await install(V1);
    host.units.behave(({ exec }) => (exec?.argv[0]?.includes('1.1') ? 'FailsToStart' : 'Runs'));
    host.units.logTail = async () => 'starting\nport 80 is taken\n';
    api.declare([V2]);
    await run(10);
    expect(report()).toMatchObject({ state: 'RolledBack' });
    expect(report()?.error?.message).toBe(
      'unit proxy exited with code 1. Last lines of proxy: starting | port 80 is taken',
    );
  });

  it('AGT-20 never rolls a version back because the host could not be read for a moment', async () => {
    await install(V1);
    api.declare([V2]);
    await agent.reconcile();
    const read = host.units.status.bind(host.units);
    host.units.status = async () => {
      throw new HostError('NoAccess', 'systemd does not answer');
    };
    await run(5);
    expect(report()).toMatchObject({ state: 'Probation', error: { code: 'ReconcileFailed' } });
    host.units.status = read;
    await run(40);
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.1' });
    expect(report()).not.toHaveProperty('error');
  });

  it('AGT-20 blames no version for a restart that was before it', async () => {
    await install(V1);
    await host.units.crash('proxy');
    await run(5);
    expect(report()).toMatchObject({ state: 'Committed', restarts: 1 });
    api.declare([componentSpec('1.0', quiet('good'))]);
    await run(40);
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.0-good', restarts: 1 });
    api.declare([componentSpec('1.0', quiet('bad'))]);
    await agent.reconcile();
    await host.units.crash('proxy');
    await run(10);
    expect(report()).toMatchObject({ state: 'RolledBack', error: { code: 'UnitRestarted' } });
  });

  it('AGT-30 goes on correcting after the stored content of the version was damaged', async () => {
    await install(V1);
    const [name = ''] = await host.files.list('/var/lib/kubenode/targets');
    const stored = `/var/lib/kubenode/targets/${name}`;
    await host.files.remove(stored);
    await host.files.remove(CONFIG);
    await run(5);
    expect(await text(CONFIG)).toBe('version 1.0\n');
    await host.files.remove(stored);
    api.declare([]);
    await run(5);
    expect(report()).toMatchObject({ state: 'Orphaned' });
    expect(await host.files.stat(CONFIG)).toBeDefined();
  });

  it('AGT-21 never removes a component in place of a rollback that cannot be read', async () => {
    await install(V1);
    const [name = ''] = await host.files.list('/var/lib/kubenode/targets');
    host.units.behave(({ exec }) => (exec?.argv[0]?.includes('1.1') ? 'Exits' : 'Runs'));
    api.declare([V2]);
    const start = host.units.start.bind(host.units);
    host.units.start = async (unit) => {
      await host.files.remove(`/var/lib/kubenode/targets/${name}`);
      await start(unit);
    };
    await run(20);
    expect(report()).toMatchObject({ state: 'Failed', error: { code: 'TargetDamaged' } });
    expect(await host.files.stat('/opt/kubenode/proxy/current')).toBeDefined();
  });

  it('reports that a host cannot run a unit as another user', async () => {
    const log = memoryLog();
    const sandbox = { ...host, capabilities: { ...host.capabilities, ownership: false } };
    await restart(sandbox, log);
    const [unit] = V1.units;
    const exec = { argv: ['${dir}/proxy'], env: {}, user: 'nobody' };
    api.declare([componentSpec('1.0', { units: unit ? [{ ...unit, exec }] : [] })]);
    await run(40);
    const warnings = log.lines.filter(({ message }) => message === 'user not applied');
    expect(warnings.map(({ fields }) => fields)).toEqual([
      { component: 'proxy', unit: 'proxy', user: 'nobody', because: 'a sandbox runs units as its own user' },
    ]);
  });

  it('AGT-30 writes an edited file back, and reports it', async () => {
    await install(V1);
    await host.files.write(CONFIG, new TextEncoder().encode('theirs'), { mode: '0644', owner: 'root:root' });
    const starts = host.units.starts.get('proxy');
    await agent.reconcile();
    expect(await text(CONFIG)).toBe('version 1.0\n');
    expect(host.units.starts.get('proxy')).toBe(starts);
    expect(condition('DriftDetected')).toBe('False Corrected');
    expect(api.statuses.at(-1)?.drift).toMatchObject([
      { path: CONFIG, kind: 'Content', action: 'Corrected' },
    ]);
    await run(605);
    expect(condition('DriftDetected')).toBe('False AsWanted');
  });

  it('AGT-30 writes back a file of any size without reading it', async () => {
    await install(V1);
    await host.files.write(CONFIG, new Uint8Array(5 * 1024 ** 2), { mode: '0644', owner: 'root:root' });
    const read = host.files.read.bind(host.files);
    let largest = 0;
    host.files.read = async (path) => {
      const content = await read(path);
      largest = Math.max(largest, content?.length ?? 0);
      return content;
    };
    await agent.reconcile();
    expect(await text(CONFIG)).toBe('version 1.0\n');
    expect(largest).toBeLessThan(1024 ** 2);
  });

  it('AGT-33 gives up on a file that is edited again and again, and reports it', async () => {
    await install(V1);
    for (let edits = 0; edits < 4; edits += 1) {
      await host.files.write(CONFIG, new TextEncoder().encode('theirs'), {
        mode: '0644',
        owner: 'root:root',
      });
      await run(5);
    }
    expect(await text(CONFIG)).toBe('theirs');
    expect(condition('DriftDetected')).toBe('True DriftConflict');
    expect(report()?.corrections).toBe(3);
  });

  it('AGT-40 works from its last accepted state while the API server is away', async () => {
    await install(V1);
    api.online = false;
    await restart();
    await host.files.remove(CONFIG);
    await host.units.stop('proxy');
    await run(5);
    expect(await text(CONFIG)).toBe('version 1.0\n');
    expect((await host.units.status({ name: 'proxy' } as never))?.active).toBe('Active');
    const { length } = api.statuses;
    api.online = true;
    await run(5);
    expect(api.statuses.length).toBe(length + 1);
    expect(report()).toMatchObject({ corrections: 2 });
  });

  it('AGT-30 corrects files that it cannot watch within 30 s, and reports that until it can', async () => {
    let because: string | undefined = 'inotify is used up';
    const [retryWatches, watch] = [() => because, () => ({ async [Symbol.asyncDispose]() {} })];
    Object.assign(host.files, { retryWatches, watch });
    await restart();
    await install(V1);
    expect(driftMessage()).toBe(
      'no difference was found; files are scanned every 20 s and not watched, because inotify is used up',
    );
    const declared = await text(CONFIG);
    const stop = new AbortController();
    const running = agent.run(stop.signal);
    await clock.advance(1000);
    await host.files.write(CONFIG, new TextEncoder().encode('edited'), ATTRIBUTES);
    await clock.advance(30_000);
    expect(await text(CONFIG)).toBe(declared);
    because = undefined;
    await clock.advance(10_000);
    expect(driftMessage()).toMatch(/^[^;]+ was corrected$/);
    stop.abort();
    await clock.advance(10_000);
    await running;
  });

  it('keeps its last accepted state when a MachineComponent is missing or the Machine was recreated', async () => {
    await install(V1);
    api.declare([], { spec: { components: [entryOf(componentSpec('9.9'))] } });
    await run(5);
    expect(condition('UpToDate')).toBe('False NotAccepted');
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.0' });
  });

  it('AGT-15 keeps a component whose entry was removed, as an orphan, and removes one that is Absent', async () => {
    await install(V1);
    api.declare([]);
    await run(5);
    expect(report()).toMatchObject({ state: 'Orphaned', currentRef: 'proxy-1.0' });
    api.declare([V1], { entry: { state: 'Absent' } });
    await run(5);
    expect(report()).toMatchObject({ state: 'Absent' });
    expect(await host.files.stat('/etc/proxy')).toBeUndefined();
  });

  it('AGT-60 writes its status only when something changed', async () => {
    await install(V1);
    const { length } = api.statuses;
    await run(120);
    expect(api.statuses.length).toBe(length);
  });

  it('AGT-62 writes its heartbeat after a reconcile, each ten seconds', async () => {
    await install(V1);
    const before = api.heartbeats;
    await run(100);
    expect(api.heartbeats - before).toBeGreaterThanOrEqual(9);
    expect(api.heartbeats - before).toBeLessThanOrEqual(12);
  });

  it('AGT-62 writes its heartbeat while the watch is away, and waits for no answer to it', async () => {
    await install(V1);
    api.online = false;
    const before = api.heartbeats;
    await run(30);
    expect(api.heartbeats - before).toBeGreaterThanOrEqual(2);
    const answer = Promise.withResolvers<void>();
    api.heartbeat = async () => {
      api.heartbeats += 1;
      await answer.promise;
    };
    await run(30);
    const hanging = api.heartbeats;
    await run(60);
    expect(api.heartbeats).toBe(hanging);
    answer.resolve();
    await run(30);
    expect(api.heartbeats).toBeGreaterThan(hanging);
  });

  it('AGT-62 writes its heartbeat and keeps what is in force while a long download goes on', async () => {
    await install(V1);
    const download = host.network.download.bind(host.network);
    const content = Promise.withResolvers<void>();
    const slow: MemoryHost['network'] = {
      ...host.network,
      async download(...args) {
        await content.promise;
        await download(...args);
      },
    };
    await restart({ ...host, network: slow });
    api.declare([V2]);
    const first = agent.reconcile();
    await clock.advance(1000);
    await first;
    const { heartbeats } = api;
    await host.files.remove(CONFIG);
    await run(30);
    expect(report()).toMatchObject({ state: 'Fetching', waiting: { reason: 'Downloading' } });
    expect(await text(CONFIG)).toBe('version 1.0\n');
    expect(api.heartbeats).toBeGreaterThanOrEqual(heartbeats + 2);
    content.resolve();
    await run(40);
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.1' });
  });

  it('AGT-62 writes no heartbeat before it knows its Machine', async () => {
    await run(30);
    expect(api.heartbeats).toBe(0);
  });

  it.each([
    ['was deleted', undefined],
    ['was recreated for another host', 'uid-2'],
  ])('AGT-62 writes no heartbeat for a Machine that %s', async (_, recreatedUid) => {
    await install(V1);
    api.deleteMachine(recreatedUid);
    const before = api.heartbeats;
    await run(60);
    expect(api.heartbeats).toBe(before);
    // While the watch is away, the agent knows nothing new of its Machine.
    api.online = false;
    await run(30);
    expect(api.heartbeats).toBeGreaterThan(before);
  });

  it.each<[string, MachineComponentSpec]>([
    ['is idle', V1],
    ['waits for a grant', V2],
  ])('AGT-01 observes a host that %s with a scan now and then', async (_, declared) => {
    await install(V1);
    api.declare([declared], { granted: false });
    await run(5);
    const scans = countScans();
    await runLoop(60_000);
    // The first one, and one at each second heartbeat.
    expect(scans()).toBe(3);
  });

  it('AGT-30 finds what no watch reported within 30 seconds', async () => {
    await install(V1);
    host.files.watch = () => ({ [Symbol.asyncDispose]: async () => undefined });
    await restart();
    await agent.reconcile();
    await host.files.write(CONFIG, new TextEncoder().encode('edited\n'), ATTRIBUTES);
    await agent.reconcile('Elapsed');
    expect(await text(CONFIG)).toBe('edited\n');
    for (let waited = 0; waited < 30; waited += 10) {
      await clock.advance(10_000);
      await agent.reconcile('Elapsed');
    }
    expect(await text(CONFIG)).toBe('version 1.0\n');
  });

  it('AGT-01 asks only the probes between two scans, and scans as soon as one answers otherwise', async () => {
    const probe = { name: 'web', tcp: { port: '80' }, timeoutSeconds: 1 };
    const limits = { periodSeconds: 5, successThreshold: 1, failureThreshold: 1 };
    await install(componentSpec('1.0', { probes: [{ ...probe, ...limits }] }));
    const scans = countScans();
    await agent.reconcile();
    const status = host.units.status.bind(host.units);
    const asked: number[] = [];
    host.units.status = async (unit) => {
      asked.push(scans());
      return await status(unit);
    };
    for (const passed of [true, false, false, true]) {
      host.answerProbes({ passed, detail: '' });
      await clock.advance(5000);
      await agent.reconcile('Elapsed');
      expect(report()?.ready).toBe(passed);
    }
    // The first one, and one for each of the two changes.
    expect(scans()).toBe(3);
    // Units are read by these scans only.
    expect(asked).toHaveLength(2);
  });

  it('AGT-13 keeps the versions that it may return to, and no older ones', async () => {
    for (const version of ['1.0', '1.1', '1.2']) await install(componentSpec(version));
    const directories = await host.files.list('/opt/kubenode/proxy');
    expect(
      directories
        .filter((name) => name !== 'current')
        .map((name) => name.slice(0, 3))
        .toSorted(),
    ).toEqual(['1.1', '1.2']);
    expect(await host.files.list('/var/lib/kubenode/cache')).toHaveLength(2);
  });

  it('forgets a failure when what failed is no longer desired', async () => {
    await install(V1);
    api.declare([componentSpec('7.7')]);
    await run(5);
    expect(report()).toMatchObject({ currentRef: 'proxy-1.0', error: { code: 'Download' } });
    api.declare([V1]);
    await run(60);
    expect(report()).toMatchObject({ state: 'Committed', currentRef: 'proxy-1.0' });
    expect(report()).not.toHaveProperty('error');
  });

  it('goes on probing the version in force while the next one waits', async () => {
    const probes = [
      {
        name: 'web',
        tcp: { port: '80' },
        periodSeconds: 5,
        timeoutSeconds: 1,
        successThreshold: 1,
        failureThreshold: 1,
      },
    ];
    await install(componentSpec('1.0', { probes }));
    api.declare([V2], { granted: false });
    await run(5);
    expect(report()).toMatchObject({ state: 'WaitingForGrant', ready: true });
    host.answerProbes({ passed: false, detail: 'ECONNREFUSED' });
    await run(10);
    expect(report()).toMatchObject({ state: 'WaitingForGrant', ready: false });
  });

  it('survives a full disk, reports meanwhile, and stores its status when there is space', async () => {
    const failing = { ...host, files: Object.create(host.files) as MemoryHost['files'] };
    let left = 2;
    failing.files.write = async (...args) => {
      if (args[0].endsWith('status.json') && (left -= 1) >= 0) throw new Error('the disk is full');
      await host.files.write(...args);
    };
    for (const name of ['stat', 'read', 'digest', 'list', 'append', 'link', 'makeDirectory'] as const) {
      failing.files[name] = host.files[name].bind(host.files) as never;
    }
    for (const name of ['copy', 'rename', 'remove', 'usage', 'unpack', 'watch', 'setAttributes'] as const) {
      failing.files[name] = host.files[name].bind(host.files) as never;
    }
    await restart(failing);
    api.declare([V1]);
    await agent.reconcile();
    expect(report()).toMatchObject({ state: 'Probation' });
    const stop = new AbortController();
    const running = agent.run(stop.signal);
    for (let steps = 0; steps < 200 && report()?.state !== 'Committed'; steps += 1) {
      await clock.advanceToNext();
    }
    stop.abort();
    await clock.advance(10_000);
    await running;
    expect(left).toBeLessThan(0);
    expect(report()).toMatchObject({ state: 'Committed' });
  });

  it('installs what others depend on first', async () => {
    const base = componentSpec('1.0', { component: 'zbase', files: [], units: [], commitAfterSeconds: 0 });
    api.declare([componentSpec('1.0', { dependsOn: [{ component: 'zbase', minVersion: '1.0' }] }), base]);
    await agent.reconcile();
    const states = api.statuses.at(-1)?.components?.map(({ name, state }) => `${name} ${state}`);
    expect(states).toEqual(['proxy Probation', 'zbase Committed']);
  });

  it('AGT-21 reports a version that no longer fits what it depends on, after its next one failed', async () => {
    const old = componentSpec('1.0', { dependsOn: [{ component: 'base', maxVersion: '1.0' }] });
    const next = componentSpec('1.1', { dependsOn: [{ component: 'base', minVersion: '1.1' }] });
    api.declare([BASE, old]);
    await run(40);
    host.units.behave((unit) => (unit.exec?.argv[0]?.includes('/1.1-') ? 'FailsToStart' : 'Runs'));
    api.declare([NEXT_BASE, next]);
    await run(20);
    const message =
      'proxy-1.0 needs base ≤ 1.0, but base has version 1.1: revert both in git, or release a version of proxy for base 1.1';
    expect(api.statuses.at(-1)?.components?.find(({ name }) => name === 'proxy')).toMatchObject({
      state: 'RolledBack',
      currentRef: 'proxy-1.0',
      error: { code: 'UnitFailed' },
      waiting: { reason: 'DependencyMismatch', message },
    });
    expect((await storedConditions())[0]).toContain(message);
    expect(events).toContain(message);
    api.declare([BASE, old]);
    await run(20);
    expect(condition('ComponentsReady')).toBe('True AsWanted');
    expect(api.statuses.at(-1)?.components?.some(({ waiting }) => waiting)).toBe(false);
  });
});
