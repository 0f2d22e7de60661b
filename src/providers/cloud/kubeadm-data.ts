/** Formats what a template of kubeadm bootstrap configs of Cluster API needs so that each of its machines gets an agent. Pure. */
import { stringify } from 'yaml';
import { printableYaml } from '../../kube/objects/printable.ts';
import { type AgentDownload, BOOTSTRAP_FILE, INSTALL_SCRIPT } from './user-data.ts';

/** Key and certificate of the kubelet of a host that kubeadm has joined. */
export const KUBEADM_KUBELET_CERTIFICATE = '/var/lib/kubelet/pki/kubelet-client-current.pem';

const SCRIPT_FILE = '/etc/kubenode/install-agent.sh';

export interface KubeadmDataOptions {
  /** The kubeconfig that names the certificate of the kubelet: no secret. */
  readonly bootstrap: string;
  readonly agent: AgentDownload;
}

/** Returns fields of the spec of a KubeadmConfig. They have no secret, and are the same for each machine. */
export function formatKubeadmData({ bootstrap, agent }: KubeadmDataOptions): string {
  const config = {
    files: [file(BOOTSTRAP_FILE, `${bootstrap}\n`), file(SCRIPT_FILE, INSTALL_SCRIPT)],
    postKubeadmCommands: [
      `sh ${SCRIPT_FILE} ${quoted(agent.url)} ${agent.sha256} --bootstrap ${BOOTSTRAP_FILE}`,
    ],
  };
  return printableYaml(stringify(config, { aliasDuplicateObjects: false, lineWidth: 0 }));
}

function file(path: string, content: string): object {
  return { path, owner: 'root:root', permissions: '0644', content };
}

/** Cluster API renders its document with Jinja on the host, where `{{` would begin an expression. */
function quoted(url: string): string {
  return `'${url.replaceAll('{', '%7B').replaceAll("'", '%27')}'`;
}
