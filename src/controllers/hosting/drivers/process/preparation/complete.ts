/** Tells how much of a control plane is there. */
import type { PlaneSettings } from '../../../../../local/state.ts';
import type { PlaneReport } from '../../driver.ts';
import { readAccess } from '../access.ts';
import type { PlaneFolder } from '../folder.ts';
import { reportCertificates } from './certificates.ts';
import { readDataState } from './data.ts';
import { areKeysRecorded, lostKeys } from './keys.ts';
import { openEntries } from './rights.ts';

/** Tells whether everything was made that is made before a member starts, and others may read none of it. */
async function isPlanePrepared(found: PlaneFolder): Promise<boolean> {
  const { record, layout } = found;
  if (!record || record.isDataMarked !== true || !areKeysRecorded(record)) return false;
  if ((await readAccess(found)) === undefined) return false;
  return (await openEntries(layout, record.cluster)).length === 0;
}

export async function dataOf({ record, layout, claim }: PlaneFolder): Promise<PlaneReport['data']> {
  if (!record || claim !== 'Own') return 'Empty';
  const { uid, isDataMarked: isMarked = false } = record;
  return await readDataState(layout.etcd.dataFolder, { uid, isMarked });
}

type Preparation = Pick<PlaneReport, 'isPrepared' | 'data' | 'lostKeys' | 'certificates'>;

export async function reportPreparation(
  found: PlaneFolder,
  settings: PlaneSettings,
  now: Date,
): Promise<Preparation> {
  return {
    isPrepared: found.claim === 'Own' && found.state !== undefined && (await isPlanePrepared(found)),
    data: await dataOf(found),
    lostKeys: found.claim === 'Own' ? await lostKeys(found) : [],
    certificates: await reportCertificates(found, settings, now),
  };
}
