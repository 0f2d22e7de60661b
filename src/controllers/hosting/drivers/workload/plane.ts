/** Describes one control plane to the builders of its objects: what was chosen when it was created, and where its members are found. */
import type { PlaneSettings } from '../../../../local/state.ts';
import type { PlanePlacement } from '../driver.ts';

export interface WorkloadPlane {
  readonly cluster: string;
  readonly uid: string;
  readonly settings: PlaneSettings;
  readonly placement: PlanePlacement;
  /** Whether etcd has data: from then on it never begins without. */
  readonly isSealed: boolean;
}

/** The addresses of the Services, which stay as long as these exist: no member needs DNS. */
export interface PlaneAddresses {
  readonly etcd: string;
  readonly apiServer: string;
}
