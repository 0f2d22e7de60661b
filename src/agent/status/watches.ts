/** Tells people when changes of files are found by scans alone: once in the log, and in the status for as long as it lasts. */
import type { Log } from '../../kube/process/log.ts';
import type { HostFiles } from '../host/port.ts';
import { SCAN_MS } from '../run/scan.ts';

/** Checks again at each call, after each reconcile. */
export function createWatchCheck(files: Pick<HostFiles, 'retryWatches'>, log: Log): () => string | undefined {
  let before: string | undefined;
  return () => {
    const because = files.retryWatches();
    if (because !== before) {
      if (because === undefined) log.info('files watched again');
      else log.warn('files not watched', { because, scanSeconds: SCAN_MS / 1000 });
    }
    before = because;
    return because && `files are scanned every ${SCAN_MS / 1000} s and not watched, because ${because}`;
  };
}
