/** The programs of kubenode that run as pods, and what each of them needs. The numbers have their derivation beside them. */
import { PRINCIPAL_CONTROLLERS, PRINCIPAL_HOSTING, PRINCIPAL_SYNC } from '../api/names.ts';

export interface DeployedProgram {
  /** The name of the objects of the program. */
  readonly name: string;
  /** The label `app.kubernetes.io/component` of its pods. */
  readonly component: string;
  /** The ServiceAccount, which `kubenode install` creates and binds. */
  readonly account: string;
  readonly description: string;
  /** The arguments of the program `kubenode`, without those of the health server. */
  readonly args: readonly string[];
  readonly resources: DeployedResources;
  /** The port that senders of webhooks reach through a Service. Absent: none. */
  readonly webhookPort?: number;
  /** The start of the options of that port: `--<name>-port` and `--<name>-host`. */
  readonly webhookOption: 'webhook' | 'maintenance';
  /** The port of the hooks of Cluster API, which it calls through a Service. Absent: none. */
  readonly extensionPort?: number;
  /** The port of the pages that people open, through a Service. It answers the probes, too. Absent: the health server does. */
  readonly pagePort?: number;
  /** Whether the program has no token: of the cluster it knows only the authority of the API server, and calls it with those of people. */
  readonly isWithoutToken?: true;
  /** The number of pods, whatever is asked for. */
  readonly replicas?: number;
  /** The TCP ports of the servers that the program calls. */
  readonly egressPorts: readonly number[];
  /** Whether the program finds servers by name, and so needs DNS. */
  readonly usesDns: boolean;
  /** Whether the program asks Prometheus, and so takes --prometheus-url. */
  readonly asksPrometheus?: true;
  /** Whether the program exports traces, and so takes --otlp-endpoint. */
  readonly traces?: true;
  /** Whether the program notifies people, and so takes --notifications. */
  readonly notifies?: true;
  /** The Secrets whose files the program reads. Absent: none. */
  readonly secrets?: readonly MountedSecret[];
  /** Whether the program starts other programs. */
  readonly startsPrograms: boolean;
  /** The file that its arguments name, in CONFIG_FOLDER. A ConfigMap with the name of the program has it. Absent: none. */
  readonly configFile?: string;
}

export interface MountedSecret {
  /** The name of the volume. */
  readonly volume: string;
  readonly secret: string;
  readonly folder: string;
}

export interface DeployedResources {
  readonly cpuMillis: { readonly request: number; readonly limit: number };
  readonly memoryMiB: { readonly request: number; readonly limit: number };
  /** The size of the cache folder; the limit also evicts a pod that logs or writes without end. */
  readonly cacheMiB: { readonly request: number; readonly limit: number };
}

/** The folder that stays writable where the root file system is read-only. */
export const CACHE_FOLDER = '/var/cache/kubenode';
export const CONFIG_FOLDER = '/etc/kubenode';
export const SECRET_FOLDER = '/etc/kubenode-notifications';
/** The file of the receivers in their Secret. */
export const NOTIFICATIONS_FILE = 'notifications.yaml';
export const MANAGEMENT_FOLDER = '/etc/kubenode-management';
/** The file of the connection in the Secret of the management cluster. */
export const MANAGEMENT_FILE = 'kubeconfig';
export const OIDC_FOLDER = '/etc/kubenode-oidc';
/** The file of the issuer in the Secret of the console. */
export const OIDC_FILE = 'oidc.yaml';
export const CLUSTERS_FOLDER = '/etc/kubenode-clusters';
/** The file of the other clusters in the Secret of the console. */
export const CLUSTERS_FILE = 'clusters.yaml';
/** The folder of the authority of the API server, for a program without a token. */
export const AUTHORITY_FOLDER = '/etc/kubenode-authority';
export const HEALTH_PORT = 8080;
const WEBHOOK_PORT = 8081;
export const EXTENSION_PORT = 8444;

/** The ports of API servers: 443 is the port of the Service `kubernetes`, 6443 that of most API servers themselves. */
const API_SERVERS = [443, 6443];
const SSH = 22;

export const SYNC: DeployedProgram = {
  name: 'kubenode-sync',
  component: 'sync',
  account: PRINCIPAL_SYNC,
  description: 'kubenode sync: brings the commits of the fleet repository to the clusters of this hub.',
  args: ['sync', '--cache', CACHE_FOLDER],
  webhookOption: 'webhook',
  resources: {
    cpuMillis: { request: 200, limit: 2000 },
    // 216 MiB in a storm of commits of 5,000 objects (bench/README.md), and a render may take 512 MiB of heap and as much beside it.
    memoryMiB: { request: 512, limit: 1536 },
    // Repositories, and the objects of the last commits.
    cacheMiB: { request: 512, limit: 4096 },
  },
  egressPorts: [...API_SERVERS, SSH],
  usesDns: true,
  asksPrometheus: true,
  traces: true,
  startsPrograms: true,
};

/** Sync with a port for the webhooks of git hosts. */
export const SYNC_WITH_WEBHOOKS: DeployedProgram = { ...SYNC, webhookPort: WEBHOOK_PORT };

export const CONTROLLERS: DeployedProgram = {
  name: 'kubenode-controllers',
  component: 'controllers',
  account: PRINCIPAL_CONTROLLERS,
  description: 'kubenode controllers: the Defender and the controllers of this cluster; one pod leads.',
  args: ['controllers'],
  webhookOption: 'maintenance',
  resources: {
    cpuMillis: { request: 200, limit: 2000 },
    // 209 to 223 MiB with 10,000 machines (bench/README.md).
    memoryMiB: { request: 256, limit: 768 },
    // Compiled code.
    cacheMiB: { request: 32, limit: 256 },
  },
  egressPorts: API_SERVERS,
  usesDns: false,
  asksPrometheus: true,
  traces: true,
  notifies: true,
  startsPrograms: false,
};

/** The controllers with a port for the maintenance events of hardware systems. */
export const CONTROLLERS_WITH_MAINTENANCE: DeployedProgram = { ...CONTROLLERS, webhookPort: WEBHOOK_PORT };

/** The ports at which the members of a control plane show their certificates: etcd, kube-controller-manager, kube-scheduler. */
const MEMBERS = [2379, 10_257, 10_259];
const IMAGES_FILE = 'images.yaml';

export const HOSTING: DeployedProgram = {
  name: 'kubenode-hosting',
  component: 'hosting',
  account: PRINCIPAL_HOSTING,
  description: 'kubenode hosting: creates and destroys control planes as pods of this hub; one pod works.',
  args: ['hosting', '--no-processes', '--images', `${CONFIG_FOLDER}/${IMAGES_FILE}`],
  configFile: IMAGES_FILE,
  webhookOption: 'webhook',
  resources: {
    cpuMillis: { request: 100, limit: 2000 },
    // 150 MiB with five control planes (bench/hosting), and 300 MiB are the most for a hundred.
    memoryMiB: { request: 192, limit: 512 },
    // Compiled code.
    cacheMiB: { request: 32, limit: 256 },
  },
  egressPorts: [...API_SERVERS, ...MEMBERS],
  // Add-ons are fetched from servers by name.
  usesDns: true,
  startsPrograms: false,
};

const PAGE_PORT = 8484;

/** The console with a login. `args` are completed by the address that people open. */
export const CONSOLE: DeployedProgram = {
  name: 'kubenode-console',
  component: 'console',
  account: 'kubenode-console',
  description: 'kubenode console: shows each person what that person may read; it has no rights of its own.',
  args: ['console'],
  webhookOption: 'webhook',
  resources: {
    cpuMillis: { request: 50, limit: 2000 },
    // 130 MiB, 35 MiB for each of twelve people with open pages and 10,000 machines, and 210 MiB for 60,000 machines of other clusters; the
    // rest is for their lists, which are read at once.
    memoryMiB: { request: 192, limit: 1024 },
    // Compiled code.
    cacheMiB: { request: 32, limit: 256 },
  },
  egressPorts: API_SERVERS,
  usesDns: false,
  // The lines of the past.
  asksPrometheus: true,
  startsPrograms: false,
  pagePort: PAGE_PORT,
  isWithoutToken: true,
  // Sessions are in the memory of one pod.
  replicas: 1,
};

/** The selector of the Deployment, which can never change. */
export function podLabels({ component }: DeployedProgram): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': 'kubenode', 'app.kubernetes.io/component': component };
}
