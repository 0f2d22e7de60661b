/** 0 → N → 0 instances by the calls of the machine controller, while EC2 fails and answers are lost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { FINALIZER_MACHINE } from '../../../src/api/names.ts';
import { createInstances, type Instances } from '../../../src/controllers/machine/instance/execute.ts';
import { byCode } from '../../../src/kube/objects/digest.ts';
import { condition, machine } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { noMotoReason } from '../../support/moto/venv.ts';
import { LONG, randomFrom, SEED } from '../../support/sweep-size.ts';
import { CLUSTER } from '../contract/harness.ts';
import { type AwsBed, type AwsCloud, IMAGE, idsIn, openAwsBed, startAwsCloud } from './bed.ts';
import { ec2Error } from './ec2.ts';

const COUNT = LONG ? 1000 : 60;
const AT_ONCE = 20;
const ROUNDS = 60;
const RUN_MS = LONG ? 3_600_000 : 600_000;
const ERROR_SHARE = 0.05;
const LOST_SHARE = 0.1;

describe.skipIf(noMotoReason !== undefined)(
  `the provider aws at scale${noMotoReason ? ` (${noMotoReason})` : ''}`,
  () => {
    let cloud: AwsCloud;
    beforeAll(async () => {
      cloud = await startAwsCloud();
    }, 900_000);
    afterAll(() => cloud[Symbol.asyncDispose]());

    it(
      `MAC-30 has exactly as many instances as machines, reads each twice an hour, and has none after it: ${COUNT}, whatever EC2 answers`,
      async () => {
        await using bed = await openAwsBed(cloud);
        const fleet = createFleet(bed);
        const restore = failSometimes(cloud);
        for (let round = 0; round < ROUNDS && fleet.machines().some(hasNoInstance); round += 1) {
          await fleet.ensureAll();
        }
        restore();
        expect(fleet.machines().filter(hasNoInstance)).toEqual([]);
        const recorded = fleet
          .machines()
          .map(({ status }) => status?.infra?.providerID?.split('/').at(-1) ?? '');
        expect(await runningIn(bed)).toEqual(recorded.toSorted(byCode));

        fleet.joinAll();
        const before = cloud.proxy.requests.length;
        for (let minute = 0; minute < 120; minute += 1) await fleet.ensureAll();
        expect(cloud.proxy.requests.length - before).toBeLessThanOrEqual(4 * COUNT);

        failSometimes(cloud);
        for (let round = 0; round < ROUNDS && fleet.machines().length > 0; round += 1) {
          await fleet.removeAll();
        }
        expect([fleet.machines(), await runningIn(bed)]).toEqual([[], []]);
      },
      RUN_MS,
    );
  },
);

function hasNoInstance({ status }: Machine): boolean {
  return status?.infra?.providerID === undefined;
}

interface Fleet {
  readonly machines: () => readonly Machine[];
  /** A reconcile of each, and a minute later. */
  readonly ensureAll: () => Promise<void>;
  readonly joinAll: () => void;
  readonly removeAll: () => Promise<void>;
}

function createFleet({ provider }: AwsBed): Fleet {
  let ms = Date.UTC(2030, 0, 1);
  let tokens = 0;
  const names = Array.from({ length: COUNT }, (_, index) => `general-${index}`);
  const machines = new Map(names.map((name) => [name, declared(name)]));
  const context = {
    clock: { now: () => new Date(ms) },
    signal: new AbortController().signal,
    log: memoryLog(),
    event: () => undefined,
  } as never;
  const instances: Instances = createInstances({
    providers: { aws: provider },
    clusterUid: CLUSTER,
    // Each is another one, so that a repeated request may differ from the one before.
    createBootstrap: async () => ({ text: `token ${(tokens += 1)}`, expiresAt: new Date(ms + 900_000) }),
  });

  async function each(work: (object: Machine) => Promise<void>): Promise<void> {
    const all = [...machines.values()];
    for (let from = 0; from < all.length; from += AT_ONCE) {
      await Promise.all(all.slice(from, from + AT_ONCE).map(work));
    }
    ms += 60_000;
  }

  return {
    machines: () => [...machines.values()],
    ensureAll: () =>
      each(async (object) => {
        const hasJoined = object.status?.conditions.some(({ type }) => type === 'AgentReady') === true;
        const { status: infra } = await instances.ensure(
          { machine: object, node: undefined, hasJoined },
          context,
        );
        const status = { conditions: [], ...object.status, ...(infra ? { infra } : {}) };
        machines.set(object.metadata.name, { ...object, status });
      }),
    joinAll() {
      for (const [name, object] of machines) {
        machines.set(name, {
          ...object,
          status: { ...object.status, conditions: [condition('AgentReady', 'True')] },
        });
      }
    },
    removeAll: () =>
      each(async (object) => {
        if ((await instances.remove(object, context)) === undefined) machines.delete(object.metadata.name);
      }),
  };
}

function declared(name: string): Machine {
  const infra = { provider: 'aws', config: { instanceType: 'm5.large', imageId: IMAGE } } as const;
  const uid = `00000000-0000-4000-8000-${name.replace('general-', '').padStart(12, '0')}`;
  const object = machine(name, {
    metadata: { uid, finalizers: [FINALIZER_MACHINE] },
    spec: { infra, host: { type: 'systemd' } },
  });
  return { ...object, status: { conditions: [] } };
}

const FAILED = ec2Error(500, 'InternalError', 'An internal error has occurred');

/** Server errors before anything happens, and answers that are lost after it. */
function failSometimes(cloud: AwsCloud): () => void {
  const random = randomFrom(SEED);
  return cloud.proxy.always(() => {
    const drawn = random();
    if (drawn < ERROR_SHARE) return { type: 'Answer', answer: FAILED };
    return drawn < ERROR_SHARE + LOST_SHARE ? { type: 'LoseAnswer' } : undefined;
  });
}

async function runningIn(bed: AwsBed): Promise<readonly string[]> {
  const states = ['pending', 'running', 'stopping', 'stopped', 'shutting-down'];
  const values = states.map((state, index) => [`Filter.1.Value.${index + 1}`, state] as const);
  const request = {
    Action: 'DescribeInstances',
    'Filter.1.Name': 'instance-state-name',
    ...Object.fromEntries(values),
  };
  const found: string[] = [];
  let token: string | undefined;
  do {
    // oxlint-disable-next-line no-await-in-loop -- each page has the token of the next one
    const page = await bed.send({ ...request, ...(token === undefined ? {} : { NextToken: token }) });
    found.push(...idsIn(page));
    token = /<nextToken>(.+?)<\/nextToken>/.exec(page)?.[1];
  } while (token !== undefined);
  return found.toSorted(byCode);
}
