/** Takes a snapshot by a driver whose Job may need more than one call on a slow machine. Each call waits for it for some seconds. */
import type { PlaneDriver, PlaneOwner } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';

const CALLS = 12;

export async function takeSnapshot(driver: PlaneDriver, plane: PlaneOwner): Promise<void> {
  for (let call = 1; ; call += 1) {
    try {
      await driver.snapshot(plane);
      return;
    } catch (error) {
      const isRunning = error instanceof HostingError && error.code === 'SnapshotRunning';
      if (!isRunning || call === CALLS) throw error;
    }
  }
}
