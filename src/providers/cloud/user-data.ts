/** Formats the cloud-init user data with which a new host joins. Pure. */
import { stringify } from 'yaml';
import { printableYaml } from '../../kube/objects/printable.ts';

/** The program of the agent that hosts download. */
export interface AgentDownload {
  /** Where the host downloads the program of the agent, as it is or compressed by gzip. */
  readonly url: string;
  /** The SHA-256 in hex of what the URL serves. */
  readonly sha256: string;
}

export interface UserDataOptions {
  readonly machine: string;
  /** The file of `kubenode machine token`: a secret. */
  readonly bootstrap: string;
  readonly agent: AgentDownload;
}

export const BOOTSTRAP_FILE = '/etc/kubenode/bootstrap.json';

/**
 * A constant: URL and checksum are its first arguments, and the others are those of the installation; a token is in the file only. Nothing runs
 * before its checksum is right.
 */
export const INSTALL_SCRIPT = `set -eu
url=$1 sha256=$2
shift 2
folder=$(mktemp -d /root/kubenode.XXXXXX)
trap 'rm -rf "$folder"' EXIT
if command -v curl > /dev/null; then
  curl --fail --silent --show-error --location --retry 10 --retry-connrefused --output "$folder/download" "$url"
else
  wget --quiet --tries=10 --output-document="$folder/download" "$url"
fi
echo "$sha256  $folder/download" | sha256sum --check --status || { echo "kubenode-agent: wrong checksum" >&2; exit 1; }
case "\${url%%[?#]*}" in
  *.gz) gzip -dc "$folder/download" > "$folder/kubenode-agent" ;;
  *) mv "$folder/download" "$folder/kubenode-agent" ;;
esac
chmod 0755 "$folder/kubenode-agent"
"$folder/kubenode-agent" install "$@" < /dev/null
`;

/** Returns a secret: the document makes its holder the agent of the Machine until the token is used. */
export function formatUserData({ machine, bootstrap, agent }: UserDataOptions): string {
  const config = {
    write_files: [
      { path: BOOTSTRAP_FILE, owner: 'root:root', permissions: '0600', content: `${bootstrap}\n` },
    ],
    runcmd: [['sh', '-c', INSTALL_SCRIPT, 'sh', agent.url, agent.sha256, ...installArguments(machine)]],
  };
  return `#cloud-config\n${printableYaml(stringify(config, { aliasDuplicateObjects: false, lineWidth: 0 }))}`;
}

function installArguments(machine: string): readonly string[] {
  return ['--machine', machine, '--bootstrap', BOOTSTRAP_FILE];
}
