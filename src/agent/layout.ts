/** Defines where the agent keeps things on a host. It is one place, so that a sandbox moves all of it by mapping its root. */

/** The root of versions of components, and of the links to the installed ones. */
export const INSTALL_ROOT = '/opt/kubenode';
/** The root of the state of the agent. */
export const STATE_ROOT = '/var/lib/kubenode';

/** The component with this name is the agent itself. */
export const AGENT_COMPONENT = 'kubenode-agent';
/** The file that records which program of the agent runs, and the upgrade under way. It is read by older and newer agents. */
export const SLOTS_FILE = `${STATE_ROOT}/agent/slots.json`;
/** The file with which a new agent proves itself to the watchdog of its upgrade. */
export const PROOF_FILE = `${STATE_ROOT}/agent/proof.json`;
/** The file that the self-test of an agent writes and removes. */
export const SELF_TEST_FILE = `${STATE_ROOT}/agent/self-test`;
/** The link that the unit of the agent starts on a host with systemd. */
export const AGENT_PROGRAM_LINK = `${STATE_ROOT}/agent/program`;

/** The directory of the program that `install` places on a host. An upgrade of the agent leaves it as it is. */
export const PROGRAM_DIRECTORY = '/usr/local/lib/kubenode';

/** The directories in which components may have state directories: STATE_DIRECTORY of the API. */
export const STATE_PARENTS = ['/etc', '/opt', '/run', '/var/cache', '/var/lib'];
/** The directory in which the kernel lists network interfaces. */
export const INTERFACES = '/sys/class/net';

/** The file that records which Machine took over this host, and what was there before. `install` writes it before anything else. */
export const IMPORT_FILE = `${STATE_ROOT}/import.json`;
/** The file that records each step of a release before it is done. */
export const RELEASE_FILE = `${STATE_ROOT}/release.json`;

export const JOURNAL_FILE = `${STATE_ROOT}/journal`;
/** The last accepted state of the Machine. */
export const DESIRED_FILE = `${STATE_ROOT}/desired.json`;
/** The file that `kubenode agent status` prints, with or without the API server and the agent. */
export const STATUS_FILE = `${STATE_ROOT}/status.json`;
export const TARGETS_DIRECTORY = `${STATE_ROOT}/targets`;
export const CACHE_DIRECTORY = `${STATE_ROOT}/cache`;
export const PKI_DIRECTORY = `${STATE_ROOT}/pki`;
export const AGENT_PKI = `${PKI_DIRECTORY}/agent`;
export const KUBELET_PKI = `${PKI_DIRECTORY}/kubelet`;
export const IDENTITY_KUBECONFIG = `${KUBELET_PKI}/kubeconfig`;
/** The file with the address of the API server: the agent starts again without the file that it joined with. */
export const CLUSTER_FILE = `${PKI_DIRECTORY}/cluster.json`;
export const CLUSTER_CA_FILE = `${PKI_DIRECTORY}/cluster-ca.crt`;
/** The file with what the agent has followed of a rotation of the authorities of its cluster. */
export const AUTHORITIES_FILE = `${PKI_DIRECTORY}/authorities.json`;

/** The file that defines what this host permits to repair jobs. It is written when the host is installed, never by the API. */
export const JOBS_CONFIG_FILE = '/etc/kubenode/jobs.json';
/** The file with the credentials of registries, which only root may read. It comes with the host or with its import, never by the API. */
export const REGISTRIES_FILE = '/etc/kubenode/registries.json';
/** The file with the mirrors of artifacts and the bandwidth that agents share. A component may install it. */
export const DOWNLOADS_FILE = '/etc/kubenode/downloads.json';
/** The folder of the output of steps and collected diagnostics, one folder for each try. */
export const JOBS_DIRECTORY = `${STATE_ROOT}/jobs`;
/** The directory in which the driver of NVIDIA has a folder for each GPU, named by its address. */
export const GPU_DIRECTORY = '/proc/driver/nvidia/gpus';
/** The file that records when the step ResetGPU has reset each GPU. */
export const GPU_RESETS_FILE = `${STATE_ROOT}/gpu-resets.json`;

/** The folder of the files of node-problem-detector, and ours beside them. Components install them. */
export const DETECTOR_DIRECTORY = '/etc/kubenode/detector';
/** The file in which the problem detector keeps its state within a boot. */
export const DETECTOR_STATE_FILE = `${STATE_ROOT}/detector.json`;
/** The file that asks the problem detector to forget what was raised. It removes the file when it has done so. */
export const DETECTOR_REARM_FILE = `${STATE_ROOT}/detector-rearm`;

/**
 * Returns the directory of a version. `digest` is sha256:<hex> of the spec of the MachineComponent. Two contents under one version get two
 * directories.
 */
export function versionDirectory(component: string, version: string, digest: string): string {
  return `${INSTALL_ROOT}/${component}/${version}-${digest.replace('sha256:', '').slice(0, 8)}`;
}

/** Returns the directory of all versions of a component. */
export function componentDirectory(component: string): string {
  return `${INSTALL_ROOT}/${component}`;
}

/** Returns the link to the directory of the installed version. */
export function currentLink(component: string): string {
  return `${INSTALL_ROOT}/${component}/current`;
}

/** The directory of the data of all components. */
export const DATA_DIRECTORY = `${STATE_ROOT}/data`;

/** Returns the directory of the data that survives versions: `${data}`. */
export function dataDirectory(component: string): string {
  return `${DATA_DIRECTORY}/${component}`;
}

/** Returns the path of an artifact, which is stored by content: a rollback needs no network. */
export function cachedArtifact(sha256: string): string {
  return `${CACHE_DIRECTORY}/${sha256}`;
}

/** Returns the file with everything that a transition needs to know of a target, kept until no journal record refers to it. */
export function targetFile(id: string): string {
  return `${TARGETS_DIRECTORY}/${id.replace('sha256:', '')}.json`;
}

/** Returns the directory with what was at the paths of a component before it first wrote them. */
export function backupDirectory(component: string): string {
  return `${STATE_ROOT}/backup/${component}`;
}

/** Returns the file with what was at `path` before the component first wrote it. */
export function backupFile(component: string, pathDigest: string): string {
  return `${backupDirectory(component)}/${pathDigest}`;
}

/** Returns the directory of what a real host had under the name of a unit before a component first wrote it. */
export function unitBackupDirectory(unit: string): string {
  return `${STATE_ROOT}/units/${unit}`;
}

/** Returns the name of the lock that the agent of that host holds while it runs. */
export function agentLock(directory: string): string {
  return `kubenode agent ${directory}`;
}

/** Returns the path of the program of a version of the agent. */
export function agentProgram(directory: string): string {
  return `${directory}/${AGENT_COMPONENT}`;
}
