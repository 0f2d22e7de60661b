/** Defines the errors of a local fleet. The errors of src/os keep their codes and get hints that name the settings which avoid them. */
import { OsError, type OsErrorCode } from '../os/errors.ts';

export type LocalErrorCode =
  | OsErrorCode
  | 'NoBinaries' // none found, and no way to get them
  | 'Build' // go build failed
  | 'NotReady' // started, but not ready in time
  | 'CorruptState'
  | 'BadFolder' // the folder contains other files
  | 'InUse' // another command runs the fleet
  | 'NotFound';

export class LocalError extends OsError<LocalErrorCode> {
  override readonly name = 'LocalError';
}

/**
 * Tells whether this is an error with one of these codes, or with any code when none is listed. Errors of src/os count too: their codes are
 * among ours.
 */
export function isLocalError(error: unknown, ...codes: LocalErrorCode[]): error is OsError<LocalErrorCode> {
  return error instanceof OsError && (codes.length === 0 || codes.some((code) => code === error.code));
}

/** The flags and variables of kubenode that avoid an error of src/os. */
const SETTINGS: Partial<Record<OsErrorCode, string>> = {
  Download:
    'set KUBENODE_KUBE_DOWNLOADS and KUBENODE_ETCD_DOWNLOADS to mirrors, or pass a folder with the programs: --kube-assets',
  DiskFull: 'choose another disk with --dir for the data, or with XDG_CACHE_HOME for the binaries',
  NoAccess: 'choose another folder with --dir, XDG_STATE_HOME or XDG_CACHE_HOME, or a --port from 1024 on',
  PortInUse: 'choose another --port or --bind-address',
};

/** Returns an error of src/os as a LocalError whose hint names our settings, and every other error unchanged. */
export function toLocalError(error: unknown): unknown {
  if (!(error instanceof OsError) || error instanceof LocalError) return error;
  const { code, message, where, hint } = error as OsError;
  const hints = [hint, SETTINGS[code]].filter((text) => text !== undefined).join('; ');
  return new LocalError(code, message, {
    ...(where === undefined ? {} : { where }),
    ...(hints === '' ? {} : { hint: hints }),
    cause: error,
  });
}
