/** A shell script in the place of the agent program, with its commands: what an import does to a host, without systemd and root. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const STAND_IN_VERSION = '9.8.7';

export interface StandIn {
  /** With programs.json. */
  readonly folder: string;
  readonly sha256: string;
  readonly compressedFile: string;
}

export interface StandInOptions {
  /** Incompressible bytes, which make the copy take a while. */
  readonly padding?: number;
  readonly arch?: string;
}

export function makeStandIn(
  folder: string,
  { padding = 0, arch = process.arch === 'x64' ? 'amd64' : 'arm64' }: StandInOptions = {},
): StandIn {
  mkdirSync(folder, { recursive: true });
  const content = Buffer.concat([Buffer.from(PROGRAM), noise(padding)]);
  const compressedFile = join(folder, 'agent.gz');
  writeFileSync(compressedFile, gzipSync(content, { level: 1 }));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const program = { arch, file: 'agent', sha256, sizeBytes: content.length, compressedFile: 'agent.gz' };
  writeFileSync(
    join(folder, 'programs.json'),
    JSON.stringify({ version: STAND_IN_VERSION, programs: [program] }),
  );
  return { folder, sha256, compressedFile };
}

/** The same bytes in each run. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(String(index)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

/** Its certificate request is that in the file `csr` of the root, where there is one. Writes its calls, and the command lines of all processes, to files beside the root. */
const PROGRAM = `#!/bin/sh
root=\${0%%/var/lib/kubenode/*}
root=\${root%%/usr/local/lib/*}
state=$root/var/lib/kubenode
echo "$*" >> "$root/calls"
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' >> "$root/command-lines"
case $1 in
  install)
    IFS= read -r json
    if [ -f "$state/import.json" ] && ! grep -qF "$json" "$state/import.json"; then
      echo "HostInUse: this host belongs to another Machine" >&2
      exit 65
    fi
    printf '%s\\n' "$json" > "$state/import.json"
    mkdir -p "$root/usr/local/lib/kubenode" "$state/agent"
    cmp -s "$0" "$root/usr/local/lib/kubenode/kubenode-agent" || cp "$0" "$root/usr/local/lib/kubenode/kubenode-agent"
    ln -sfn "$root/usr/local/lib/kubenode/kubenode-agent" "$state/agent/program"
    printf '{"version":"${STAND_IN_VERSION}","sha256":"%s"}\\n' "$(sha256sum < "$0" | cut -d ' ' -f 1)"
    ;;
  request)
    if [ -f "$root/csr" ]; then cat "$root/csr"; exit; fi
    [ "$4" = --renew ] && rm -f "$state/key"
    [ -f "$state/key" ] || od -An -N 12 -tx1 /dev/urandom | tr -d ' \\n' > "$state/key"
    printf -- '-----BEGIN CERTIFICATE REQUEST-----\\n%s\\n-----END CERTIFICATE REQUEST-----\\n' "$(cat "$state/key")"
    ;;
  accept) cat > "$state/accepted" ;;
  release)
    rm -rf "$root/usr/local/lib/kubenode" "$state/key" "$state/accepted" "$state/agent" "$state/import.json"
    echo '{"left":["/etc/kept"]}'
    exit 1
    ;;
  *) echo "unknown command" >&2; exit 64 ;;
esac
exit
`;
