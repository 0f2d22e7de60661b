/**
 * One version of one component as this machine runs it: an artifact chosen, every placeholder replaced. A target never
 * changes; another parameter makes another target. It is stored on the host, so that the agent can finish, repeat or
 * take back a transition without the API.
 */
import type { ActivationClass } from '../../api/enums.ts';
import type {
  ComponentArtifact,
  ComponentDependency,
  ComponentFile,
  ComponentProbe,
} from '../../api/generated/types.ts';
import type { UnitDefinition } from '../host/port.ts';

export interface Target {
  /** Digest of the entry in Machine.spec.components, without assignment and grant. */
  readonly id: string;
  readonly component: string;
  readonly version: string;
  /** Name of the MachineComponent. */
  readonly ref: string;
  /** Digest of the spec of the MachineComponent. */
  readonly digest: string;
  /** Directory of the version, `${dir}`. */
  readonly directory: string;
  readonly identity: 'None' | 'Kubelet';
  readonly artifact?: Omit<ComponentArtifact, 'os' | 'arch'>;
  readonly files: readonly ComponentFile[];
  readonly units: readonly UnitDefinition[];
  readonly probes: readonly ComponentProbe[];
  /** The directories that the programs of the component make. */
  readonly stateDirectories?: readonly string[];
  readonly networkInterfaces?: readonly string[];
  /** Port numbers by name, as this host assigned them. */
  readonly ports: Readonly<Record<string, number>>;
  readonly activation: ActivationClass;
  readonly commitAfterSeconds: number;
  readonly keepVersions: number;
  readonly rollbackSupported: boolean;
  readonly dependsOn: readonly ComponentDependency[];
}
