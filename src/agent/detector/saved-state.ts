/** Stores what the detector keeps over a restart of the agent. A boot clears it: what was raised before it is over. */
import type { HostFiles } from '../host/port.ts';
import { DETECTOR_STATE_FILE } from '../layout.ts';
import { readStateFile, writeStateFile } from '../state-file.ts';
import type { SavedMonitor } from './monitors/problem-monitor.ts';

/** Holds the state of each monitor by the name of its file. */
export type SavedMonitors = Readonly<Record<string, SavedMonitor>>;

interface SavedDetector {
  readonly bootId: string;
  readonly monitors: SavedMonitors;
}

export async function readSavedMonitors(
  files: Pick<HostFiles, 'read'>,
  bootId: string,
): Promise<SavedMonitors | undefined> {
  const saved = await readStateFile<SavedDetector>(files, DETECTOR_STATE_FILE);
  return saved?.bootId === bootId ? saved.monitors : undefined;
}

export async function writeSavedMonitors(
  files: Pick<HostFiles, 'write'>,
  bootId: string,
  monitors: SavedMonitors,
): Promise<void> {
  await writeStateFile(files, DETECTOR_STATE_FILE, { bootId, monitors } satisfies SavedDetector);
}
