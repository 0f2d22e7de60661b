/** A host of a pool, and the key by which two entries are the same host. Pure. */
import type { MachineBMC, MachineImport } from '../../../api/generated/types.ts';

/** How a host of a pool is reached, and what it is selected by. It has no secret in it. */
export interface PooledHost {
  readonly address: string;
  readonly port: number;
  readonly user: string;
  readonly zone?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly hostKeys: NonNullable<MachineImport['hostKeys']>;
  readonly credentialsRef: MachineImport['credentialsRef'];
  /** How the power of the host is switched. */
  readonly bmc?: MachineBMC;
}

export interface PoolContent {
  /** By address and port. */
  readonly hosts: readonly PooledHost[];
  /** Each names the ConfigMap, and the host if it is known. */
  readonly problems: readonly string[];
}

/** The key of a host: two entries with one address and port are the same host. */
export function hostKeyText({ address, port }: Pick<PooledHost, 'address' | 'port'>): string {
  return `${address.toLowerCase().replace(/\.$/, '')}:${port}`;
}
