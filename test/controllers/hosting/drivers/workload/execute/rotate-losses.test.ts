/** Rotations of the authorities of pods while somebody replaces, removes or restores files of the Secret with all keys. */
import { describe, expect, it } from 'vitest';
import { createWorkloadDriver } from '../../../../../../src/controllers/hosting/drivers/workload/driver.ts';
import {
  digestsOf,
  KEY_FILES,
  type KeyFiles,
} from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import { createAuthority } from '../../../../../../src/local/pki/certificate.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import { conditionText } from '../../../../../support/hosting/bed.ts';
import type { MemoryHub } from '../../../../../support/hosting/memory-hub.ts';
import { certificatesIn } from '../../../../../support/hosting/memory-hub-authorities.ts';
import {
  ask,
  createdHub,
  editKeys,
  keptFiles,
  keysOf,
  planeIn,
  recordOf,
  rotatingSpec,
  secretFiles,
  until,
} from '../../../../../support/hosting/rotating-hub.ts';

const LIMIT = 600_000;

function foreignKey({ clock }: MemoryHub): string {
  const { certPem, keyPem } = createAuthority('foreign', clock.now(), 3650);
  return certPem + keyPem;
}

/** Returns how many authorities and how many token keys the API server trusts. */
function trustedCounts(hub: MemoryHub): readonly number[] {
  const files = secretFiles(hub, 'kube-apiserver');
  return [
    certificatesIn(files['ca.crt']).length,
    files['sa.key']?.match(/BEGIN [A-Z ]*PRIVATE KEY/g)?.length ?? 0,
  ];
}

describe('the keys of a control plane of pods that somebody changes', { timeout: LIMIT }, () => {
  it('HOS-22 are not rotated to where they were there before the rotation', async () => {
    const { hub } = await createdHub();
    const pem = foreignKey(hub);
    editKeys(hub, { 'cluster.ca.old.pem': keysOf(hub)[KEY_FILES.ca], 'cluster.ca.new.pem': pem });
    await ask(hub, 'Prepare');
    expect([hub.status()?.caRotation?.step, Object.values(keysOf(hub)).includes(pem)]).toEqual([
      'Prepared',
      false,
    ]);
  });

  it('HOS-22 are not rotated to where they were put there after hosting observed them', async () => {
    const { hub, first } = await createdHub();
    await first.stop();
    const pem = foreignKey(hub);
    editKeys(hub, { 'cluster.ca.old.pem': keysOf(hub)[KEY_FILES.ca], 'cluster.ca.new.pem': pem });
    const client = await hub.api.connection().connect();
    const driver = createWorkloadDriver({ client, clock: hub.clock, images: async () => hub.images });
    await driver.rotate?.(planeIn(hub), { id: '2026', phase: 'TrustBoth' });
    expect([recordOf(hub).rotation?.isApplied, Object.values(keysOf(hub)).includes(pem)]).toEqual([
      true,
      false,
    ]);
  });

  it('HOS-20 are not trusted where no rotation put them, and hosting removes them', async () => {
    const { hub } = await createdHub();
    const foreign = parsePair(foreignKey(hub))?.certPem ?? '';
    const own = parsePair(keysOf(hub)[KEY_FILES.ca])?.certPem ?? '';
    editKeys(hub, { 'cluster.ca.crt': own + foreign });
    await hub.advance(60_000);
    expect([keptFiles(hub), trustedCounts(hub)]).toEqual([[], [1, 1]]);
    hub.writes();
    await hub.advance(60_000);
    expect(hub.writes()).toEqual([]);
  });

  it('HOS-20 are removed again where the Secret of a rotation that is over is restored', async () => {
    const { hub } = await createdHub();
    await ask(hub, 'Prepare');
    hub.apply(rotatingSpec('Complete'));
    await until(hub, () => hub.made.includes('publish ServeNew'));
    const backup = keysOf(hub);
    await hub.advance(60_000);
    expect(hub.status()?.caRotation?.step).toBe('Completed');
    editKeys(hub, backup);
    await hub.advance(60_000);
    expect([keptFiles(hub), trustedCounts(hub)]).toEqual([[], [1, 1]]);
  });

  it('HOS-22 are those of the phase again where the Secret of the one before is restored', async () => {
    const { hub } = await createdHub();
    hub.apply(rotatingSpec('Prepare'));
    await until(hub, () => hub.made.includes('publish TrustBoth'));
    const backup = keysOf(hub);
    await hub.advance(60_000);
    editKeys(hub, backup);
    await hub.advance(60_000);
    expect(digestsOf(keysOf(hub))).toEqual(recordOf(hub).rotation?.keys?.new);
  });

  it.each<[file: string, pemOf: (hub: MemoryHub) => string | undefined]>([
    ['cluster.ca.new.pem', foreignKey],
    ['cluster.sa.new.key', () => 'damaged'],
    ['etcd.ca.new.pem', () => undefined],
  ])('HOS-20 are those that were recorded, also where %s is another one', async (file, pemOf) => {
    const { hub } = await createdHub();
    await ask(hub, 'Prepare');
    editKeys(hub, { [file]: pemOf(hub) });
    await ask(hub, 'Complete');
    const { keys } = recordOf(hub);
    expect([hub.status()?.caRotation?.step, digestsOf(keysOf(hub))]).toEqual(['Completed', keys]);
  });

  it('HOS-22 are taken back where a new one is lost that issued nothing', async () => {
    const { hub } = await createdHub();
    const before: KeyFiles = keysOf(hub);
    hub.apply(rotatingSpec('Prepare'));
    await until(hub, () => recordOf(hub).rotation?.isApplied === true);
    editKeys(hub, { 'cluster.front-proxy-ca.new.pem': undefined });
    await hub.advance(60_000);
    expect(hub.status()?.waiting).toMatchObject({
      reason: 'KeysLost',
      message: expect.stringContaining('cluster.front-proxy-ca.new.pem') as string,
    });
    await ask(hub);
    expect([recordOf(hub).rotation, digestsOf(keysOf(hub))]).toEqual([undefined, digestsOf(before)]);
    expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-22 are all there before a phase is entered that needs them', async () => {
    const { hub, first } = await createdHub();
    hub.apply(rotatingSpec('Prepare'));
    await until(hub, () => recordOf(hub).rotation?.isApplied === true);
    await first.stop();
    editKeys(hub, { 'cluster.front-proxy-ca.new.pem': undefined });
    const client = await hub.api.connection().connect();
    const driver = createWorkloadDriver({ client, clock: hub.clock, images: async () => hub.images });
    const rotated = driver.rotate?.(planeIn(hub), { id: '2026', phase: 'IssueNew' });
    await expect(rotated).rejects.toMatchObject({ code: 'KeysLost' });
    expect(recordOf(hub).rotation?.phase).toBe('TrustBoth');
  });

  it('HOS-22 complete the rotation where the former one is lost that is not trusted', async () => {
    const { hub } = await createdHub();
    await ask(hub, 'Prepare');
    hub.apply(rotatingSpec('Complete'));
    await until(hub, () => recordOf(hub).rotation?.phase === 'TrustNew');
    await hub.advance(500);
    editKeys(hub, { 'cluster.ca.old.pem': undefined });
    await hub.advance(60_000);
    expect([hub.status()?.caRotation?.step, keptFiles(hub)]).toEqual(['Completed', []]);
  });
});
