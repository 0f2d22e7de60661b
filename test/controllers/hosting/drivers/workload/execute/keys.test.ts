/** The Secret with all keys of a control plane of pods, while somebody else changes it during a rotation. */
import { describe, expect, it } from 'vitest';
import { PLANE_KEYS } from '../../../../../../src/controllers/hosting/drivers/keys.ts';
import { digestsOf } from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import {
  ask,
  createdHub,
  keptFiles,
  keysOf,
  recordOf,
  refuseKeys,
  rotatingSpec,
  until,
} from '../../../../../support/hosting/rotating-hub.ts';

const LIMIT = 600_000;

describe('the Secret with all keys whose write is refused once', { timeout: LIMIT }, () => {
  it('HOS-22 keeps all keys before their digests are recorded', async () => {
    const { hub } = await createdHub();
    refuseKeys(hub);
    await ask(hub, 'Prepare');
    const { keys } = recordOf(hub).rotation ?? {};
    expect([keys?.old, keys?.new].map((each) => Object.keys(each ?? {}))).toEqual([PLANE_KEYS, PLANE_KEYS]);
    expect(hub.status()?.caRotation?.step).toBe('Prepared');
    await ask(hub);
    expect([recordOf(hub).rotation, keptFiles(hub)]).toEqual([undefined, []]);
  });

  it('HOS-22 has the keys of a phase before that is recorded as written', async () => {
    const { hub } = await createdHub();
    hub.apply(rotatingSpec('Prepare'));
    await until(hub, () => hub.made.includes('publish TrustBoth'));
    refuseKeys(hub);
    await hub.advance(60_000);
    expect([hub.status()?.caRotation?.step, digestsOf(keysOf(hub))]).toEqual([
      'Prepared',
      recordOf(hub).rotation?.keys?.new,
    ]);
  });

  it('HOS-22 has no former key when the rotation is over', async () => {
    const { hub } = await createdHub();
    await ask(hub, 'Prepare');
    hub.apply(rotatingSpec('Complete'));
    await until(hub, () => hub.made.includes('publish TrustNew'));
    refuseKeys(hub);
    await hub.advance(60_000);
    expect([hub.status()?.caRotation?.step, keptFiles(hub)]).toEqual(['Completed', []]);
  });
});
