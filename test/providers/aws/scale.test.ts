/** 0 → N → 0 instances by the calls of the machine controller, while EC2 fails and answers are lost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noMotoReason } from '../../support/moto/venv.ts';
import { LONG } from '../../support/sweep-size.ts';
import { COUNT, expectExactlyAsMany } from '../cloud/scale.ts';
import { type AwsBed, type AwsCloud, IMAGE, idsIn, openAwsBed, startAwsCloud, ZONE } from './bed.ts';
import { ec2Error } from './ec2.ts';

const CONFIG = { instanceType: 'm5.large', imageId: IMAGE };
const RUN_MS = LONG ? 4 * 3_600_000 : 600_000;
const FAILED = ec2Error(500, 'InternalError', 'An internal error has occurred');

describe.skipIf(noMotoReason !== undefined)(
  `the provider aws at scale${noMotoReason ? ` (${noMotoReason})` : ''}`,
  () => {
    let cloud: AwsCloud;
    beforeAll(async () => {
      cloud = await startAwsCloud();
    }, 900_000);
    afterAll(() => cloud[Symbol.asyncDispose]());

    it(
      `MAC-30 has exactly as many instances as machines, sends at most two requests a machine and hour, and has none after it: ${COUNT}, whatever EC2 answers`,
      async () => {
        await using bed = await openAwsBed(cloud);
        const instances = await expectExactlyAsMany({
          provider: bed.provider,
          config: CONFIG,
          existing: () => runningIn(bed),
          requests: () => cloud.proxy.requests.length,
          failSometimes: (draw) =>
            cloud.proxy.always(() => {
              const fault = draw();
              if (fault === 'Fail') return { type: 'Answer', answer: FAILED };
              return fault && { type: fault };
            }),
        });
        expect(instances).toBe(COUNT);
      },
      RUN_MS,
    );
  },
);

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
    found.push(...idsIn(page).map((id) => `aws:///${ZONE}/${id}`));
    token = /<nextToken>(.+?)<\/nextToken>/.exec(page)?.[1];
  } while (token !== undefined);
  return found;
}
