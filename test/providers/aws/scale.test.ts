/** 0 → N → 0 instances by the calls of the machine controller, while EC2 fails and answers are lost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byCode } from '../../../src/kube/objects/digest.ts';
import { noMotoReason } from '../../support/moto/venv.ts';
import { LONG, randomFrom, SEED } from '../../support/sweep-size.ts';
import { createFleet, hasNoInstance } from '../cloud/fleet.ts';
import { type AwsBed, type AwsCloud, IMAGE, idsIn, openAwsBed, startAwsCloud } from './bed.ts';
import { ec2Error } from './ec2.ts';

const CONFIG = { instanceType: 'm5.large', imageId: IMAGE };
const COUNT = LONG ? 1000 : 60;
const ROUNDS = 60;
const RUN_MS = LONG ? 4 * 3_600_000 : 600_000;
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
        const fleet = createFleet(bed.provider, { count: COUNT, config: CONFIG });
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
