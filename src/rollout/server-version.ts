/** Reads the version of an API server from its answer of /version. Pure. */
import { isRecord, textAt } from '../kube/objects/json.ts';

/**
 * Returns `v1.36.3`, or `v1.35` for a server that emulates an older minor version: it may be replaced by one of that version, so no kubelet may
 * be newer than that.
 */
export function versionIn(answer: unknown): string | undefined {
  if (!isRecord(answer)) return undefined;
  const version = textAt(answer, 'gitVersion');
  const [major, minor] = [textAt(answer, 'emulationMajor'), textAt(answer, 'emulationMinor')];
  if (version === undefined || major === undefined || minor === undefined) return version;
  const emulated = `v${major}.${minor}`;
  return version.startsWith(`${emulated}.`) ? version : emulated;
}
