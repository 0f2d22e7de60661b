/** Describes one control plane to the builders of its objects: what was chosen when it was created, and where its members are found. */
import type { PlaneSettings } from '../../../../local/state.ts';
import type { PlanePlacement } from '../driver.ts';
import type { WorkloadMember } from './names.ts';

export interface WorkloadPlane {
  readonly cluster: string;
  readonly uid: string;
  readonly settings: PlaneSettings;
  readonly placement: PlanePlacement;
  /** Whether etcd has data: from then on it never begins without. */
  readonly isSealed: boolean;
  /** The addresses that its Services had, by name. */
  readonly addresses?: Readonly<Record<string, string>> | undefined;
  readonly members: Readonly<Partial<Record<WorkloadMember, MemberStart>>>;
}

export interface MemberStart {
  /** The members that one without data joins. Undefined: it has data, or begins the etcd. */
  readonly initialCluster?: string | undefined;
}

/** The addresses of the Services, which stay as long as these exist: no member needs DNS. */
export interface PlaneAddresses {
  /** One for each member of etcd. */
  readonly etcd: readonly string[];
  readonly apiServer: string;
}
