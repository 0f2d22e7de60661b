/** Cases of provider aws on a moto server that they share. */
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { noMotoReason } from '../../support/moto/venv.ts';
import { type AwsBed, type AwsCloud, IMAGE, openAwsBed, startAwsCloud, ZONE } from './bed.ts';

export const SHAPE = {
  config: { instanceType: 'm5.large', imageId: IMAGE },
  host: 'systemd',
  zone: ZONE,
} as const;

/** The first time, moto is installed. */
const START_MS = 900_000;

/** Opens an empty cloud for one case. */
export type OpenAwsBed = () => Promise<AwsBed>;

/** Skips the cases where moto cannot run, and names why. */
export function describeOnMoto(title: string, cases: (open: OpenAwsBed) => void): void {
  const reason = noMotoReason;
  describe.skipIf(reason !== undefined)(`${title}${reason === undefined ? '' : ` (${reason})`}`, () => {
    let cloud: AwsCloud;
    beforeAll(async () => {
      cloud = await startAwsCloud();
    }, START_MS);
    afterAll(() => cloud[Symbol.asyncDispose]());

    cases(async () => {
      const bed = await openAwsBed(cloud);
      onTestFinished(() => bed[Symbol.asyncDispose]());
      return bed;
    });
  });
}
