import { describe, expect, it } from 'vitest';
import type { ComponentInput } from '../../../../src/agent/component/input.ts';
import { planTransition } from '../../../../src/agent/component/transition/plan.ts';
import { createMemoryHost, type MemoryHost } from '../../../../src/agent/host/memory/host.ts';
import { AGENT_COMPONENT, currentLink } from '../../../../src/agent/layout.ts';
import type { Target } from '../../../../src/agent/target/target.ts';
import { type AgentSelf, programOf } from '../../../../src/agent/upgrade/self.ts';
import { endUpgrade, readSlots } from '../../../../src/agent/upgrade/slot-store.ts';
import type { UpgradeVerdict } from '../../../../src/agent/upgrade/slots.ts';
import { WATCHDOG_UNIT } from '../../../../src/agent/upgrade/watchdog-unit.ts';
import { type DriveResult, drive, present } from '../../../support/agent/component-driver.ts';
import { componentInput, explain, installed } from '../../../support/agent/component-input.ts';
import { AgentKilled, type CrashPoint, crashAt } from '../../../support/agent/crashing-host.ts';
import { artifactUrl, programOf as contentOf, target } from '../../../support/agent/targets.ts';
import { agentUpgrade } from '../../../support/agent/upgrades.ts';
import { NOW, virtualClock } from '../../../support/virtual-clock.ts';

const V1 = agentTarget('1.0');
const V2 = agentTarget('1.1');
const DISK = { directory: '/' };
const [OLD, NEW] = [V1, V2].map((each) => programOf(DISK, each)) as [string, string];
const KEY = `${V2.id} ${NOW.toISOString()}`;
const FAILURE = { code: 'AgentCrashed', message: 'it ended' };
const VERDICT = {
  program: NEW,
  key: KEY,
  version: '1.1',
  at: NOW.toISOString(),
  result: 'Committed',
} as const;
/** The link is the only thing that the agent itself places. */
const KEPT = `Link /opt/kubenode/${AGENT_COMPONENT}/current, EndHandOver, record Committed at ${V2.id}: version 1.1 of the agent is healthy`;
const UPGRADE = agentUpgrade({ key: KEY });

describe('AGT-43 hands over to another version of the agent', () => {
  it.each<[string, Partial<NonNullable<ComponentInput['self']>>, string]>([
    ['with a watchdog', {}, 'HandOver'],
    [
      'once',
      { slots: { upgrade: UPGRADE }, isWatched: true },
      'wait HandedOver: the watchdog replaces this agent with version 1.1',
    ],
    [
      'as the new agent, which waits as well',
      { slots: { upgrade: UPGRADE }, isWatched: true, program: NEW },
      'wait SelfProbation: version 1.1 of the agent proves that it is healthy',
    ],
    ['again while no watchdog runs', { slots: { upgrade: UPGRADE } }, 'HandOver'],
    ['again as the new agent', { slots: { upgrade: UPGRADE }, program: NEW }, 'HandOver'],
    ['with no regard to an earlier attempt', { slots: { last: { ...VERDICT, key: 'before' } } }, 'HandOver'],
    ['and keeps the new one', { slots: { last: VERDICT }, program: NEW }, KEPT],
    ['and keeps the new one although the old one reads the verdict', { slots: { last: VERDICT } }, KEPT],
    ['not to itself', { program: NEW }, KEPT],
    [
      'and denies one that failed',
      { slots: { last: { ...VERDICT, result: 'RolledBack', failure: FAILURE } } },
      `EndHandOver, record RolledBack at ${V1.id} denying ${V2.id}: it ended`,
    ],
  ])('%s', (_, fields, expected) => {
    expect(explain(handingOver({ self: { ...SELF, ...fields } }))).toBe(expected);
  });

  it.each<[string, Partial<NonNullable<ComponentInput['self']>>, string]>([
    ['waits for the watchdog', { slots: { upgrade: UPGRADE } }, 'wait HandedOver'],
    [
      'keeps what the watchdog kept',
      { slots: { last: VERDICT } },
      `EndHandOver, record Committed at ${V2.id}`,
    ],
    [
      'keeps nothing for the verdict of an earlier attempt',
      { slots: { last: { ...VERDICT, key: 'before' } } },
      `EndHandOver, record RolledBack at ${V1.id} denying ${V2.id}`,
    ],
    ['changes nothing without a watchdog', {}, `EndHandOver, record RolledBack at ${V1.id} denying ${V2.id}`],
  ])('whose stored content is damaged, and %s', (_, fields, expected) => {
    const desired = { state: 'Invalid', message: '' } as const;
    const input = { ...handingOver({ self: { ...SELF, ...fields } }), desired };
    expect(explain({ ...input, targets: new Map([[V1.id, V1]]) })).toContain(expected);
  });

  it.each([
    [1, 'wait RetryPending: the disk is full'],
    [0, 'HandOver'],
  ])('%i ms before it may try again after a failure: %s', (ms, expected) => {
    const failure = { code: 'DiskFull', message: 'the disk is full', retryAt: new Date(NOW.getTime() + ms) };
    expect(explain(handingOver({ self: SELF, failure }))).toBe(expected);
  });

  it('continues what a watchdog began, so that the next watchdog runs the old program, too', () => {
    const begun = { ...UPGRADE, step: 'Probation', boots: 1 } as const;
    const input = handingOver({ self: { ...SELF, program: NEW, slots: { upgrade: begun } } });
    expect(planTransition(input).actions).toMatchObject([{ operation: { op: 'HandOver', upgrade: begun } }]);
  });

  it('not where it has no program of its own', () => {
    expect(explain(handingOver({}))).toBe('wait InvalidEntry: this agent cannot replace itself');
  });

  it('and keeps the process when a repair job installs its files again', () => {
    const { transition } = handingOver({}).progress;
    const progress = { ...handingOver({}).progress, transition: { ...transition, reinstall: 'job' } };
    const input = { ...handingOver({ self: SELF }), progress } as ComponentInput;
    expect(explain(input)).toContain(`Unpack, record Committed at ${V2.id}`);
  });

  it.each(['Committed', 'RolledBack'] as const)(
    'and ends %s once, also when it is killed at any call before and after the verdict',
    async (result) => {
      const { calls } = await upgrade(result);
      expect(calls.length).toBeGreaterThan(15);
      for (let call = 1; call <= calls.length; call += 1) {
        for (const when of ['before', 'after'] as const) {
          const where = `killed ${when} call ${call}: ${calls[call - 1]}`;
          expect({ where, ...(await upgrade(result, { call, when })).end }).toEqual({
            where,
            ...endOf(result),
          });
        }
      }
    },
  );
});

const SELF = { ...self(OLD), directory: '/', slots: {}, isWatched: false };

function self(program: string): AgentSelf {
  const { launch, replaces: identity } = UPGRADE;
  return { program, launch, identity, healthySeconds: 60, uptimeMs: () => 0 };
}

function agentTarget(version: string): Target {
  const { artifact, directory } = target(version);
  const ownDirectory = directory.replace('/proxy/', `/${AGENT_COMPONENT}/`);
  const own = { ...artifact, install: [] } as unknown as NonNullable<Target['artifact']>;
  const fields = { directory: ownDirectory, artifact: own, files: [], units: [] };
  return target(version, { ...fields, component: AGENT_COMPONENT });
}

function handingOver(fields: Partial<ComponentInput>): ComponentInput {
  const transition = {
    step: 'Stopping',
    entry: V2.id,
    direction: 'Forward',
    from: V1.id,
    to: V2.id,
    bootId: 'boot-1',
    boots: 0,
  } as const;
  const input = componentInput(
    { component: AGENT_COMPONENT, desired: present(V2), observed: installed(V1), ...fields },
    { component: AGENT_COMPONENT, current: V1.id, state: 'Committed', transition },
  );
  return { ...input, targets: new Map([V1, V2].map((each) => [each.id, each])) };
}

interface End {
  readonly state: string;
  readonly denied: readonly string[];
  readonly current: string | undefined;
  readonly watchdog: boolean;
}

function endOf(result: UpgradeVerdict['result']): End {
  const isNew = result === 'Committed';
  const [denied, current] = isNew ? [[], V2.directory] : [[V2.id], V1.directory];
  return { state: result, denied, current, watchdog: false };
}

/** The life of the old agent until it hands over, the verdict, and the life of the agent that runs then. */
async function upgrade(
  result: UpgradeVerdict['result'],
  point?: CrashPoint,
): Promise<{ readonly end: End; readonly calls: readonly string[] }> {
  const host = await hostWithV1();
  const crashing = crashAt(host, point);
  await untilSettled(
    () => live(crashing.host, OLD),
    () => live(host, OLD),
  );
  const { upgrade: begun } = await readSlots(host.files);
  if (begun) {
    const { key, version, to: program } = begun;
    await endUpgrade(host.files, { key, version, program, result, at: NOW.toISOString(), failure: FAILURE });
    await host.units.stop(WATCHDOG_UNIT);
  }
  const program = result === 'Committed' ? NEW : OLD;
  const { progress } = await untilSettled(
    () => live(crashing.host, program),
    () => live(host, program),
  );
  const watchdog = (await host.files.stat(`/etc/systemd/system/${WATCHDOG_UNIT}.service`)) !== undefined;
  const current = (await host.files.stat(currentLink(AGENT_COMPONENT)))?.target;
  const { state, denied } = progress;
  return { end: { state, denied, current, watchdog }, calls: crashing.calls };
}

async function untilSettled(
  first: () => Promise<DriveResult>,
  second: () => Promise<DriveResult>,
): Promise<DriveResult> {
  try {
    return await first();
  } catch (error) {
    if (!(error instanceof AgentKilled)) throw error;
    return await second();
  }
}

async function live(
  host: MemoryHost | ReturnType<typeof crashAt>['host'],
  program: string,
): Promise<DriveResult> {
  return await drive(host, present(V2), { self: self(program), clock: virtualClock() });
}

async function hostWithV1(): Promise<MemoryHost> {
  const artifacts = new Map(['1.0', '1.1'].map((version) => [artifactUrl(version), contentOf(version)]));
  const host = createMemoryHost({ clock: virtualClock(), artifacts });
  await drive(host, present(V1), { self: self(OLD), clock: virtualClock() });
  return host;
}
