/** A pool of hosts from which MachineSets of provider ssh take theirs. */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { LABEL_HOST_POOL, NAMESPACE_HOSTS } from '../api/names.ts';
import type { HostKey, MachineBMC } from './generated/types.ts';

/** How a host is reached over SSH. In a pool: for the hosts that name nothing else. */
export interface PoolAccess {
  /** SSH port. Default: 22. */
  readonly port?: number;
  /** SSH user. Default: root. */
  readonly user?: string;
  /** Secret in kubenode-system with the private key. */
  readonly credentialsRef?: { readonly name: string; readonly key?: string };
}

export interface PoolHostProps extends PoolAccess {
  /** Host name or IP address. */
  readonly address: string;
  /** The keys of the host, as `kubenode import --dry-run` and `ssh-keygen -l` print them. */
  readonly hostKeys: readonly HostKey[];
  /** The BMC that switches the power of the host. */
  readonly bmc?: MachineBMC;
  /** Only Machines of this zone, or of none, take the host. */
  readonly zone?: string;
  /** Labels that `infra.config.selector` of a MachineSet selects. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface HostPoolProps extends PoolAccess {
  /** Name of the pool, in `infra.config.pool` of MachineSets. */
  readonly name: string;
  readonly hosts: readonly PoolHostProps[];
}

/** So that no object is large: an entry with several keys takes up to a KiB. */
const HOSTS_PER_OBJECT = 60;

export class HostPool extends Construct {
  readonly objects: readonly ApiObject[];

  constructor(scope: Construct, id: string, props: HostPoolProps) {
    super(scope, id);
    const { name, hosts, ...access } = props;
    this.node.addValidation({ validate: () => problemsOf(props) });
    const count = Math.max(1, Math.ceil(hosts.length / HOSTS_PER_OBJECT));
    this.objects = Array.from({ length: count }, (_, index) => {
      const part = hosts.slice(index * HOSTS_PER_OBJECT, (index + 1) * HOSTS_PER_OBJECT);
      return new ApiObject(this, String(index), {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          // Another pool may be named rack7-2. None has a dot in its name.
          name: index === 0 ? name : `${name}.${index + 1}`,
          namespace: NAMESPACE_HOSTS,
          labels: { [LABEL_HOST_POOL]: name },
        },
        data: { 'hosts.json': `${JSON.stringify({ ...access, hosts: part }, undefined, 2)}\n` },
      });
    });
  }
}

function problemsOf({ name, hosts, credentialsRef, port: usual = 22 }: HostPoolProps): string[] {
  const keys = hosts.map(({ address, port = usual }) => `${address.toLowerCase()}:${port}`);
  const repeated = [...Map.groupBy(keys, (key) => key)].filter(([, same]) => same.length > 1);
  return [
    ...repeated.map(([key]) => `HostPool ${name}: ${key} is listed twice`),
    ...hosts.flatMap((host) => {
      const where = `HostPool ${name}: ${host.address}`;
      return [
        ...(host.hostKeys.length === 0 ? [`${where}: expected at least one key in hostKeys`] : []),
        ...((host.credentialsRef ?? credentialsRef) === undefined
          ? [`${where}: expected credentialsRef`]
          : []),
      ];
    }),
  ];
}
