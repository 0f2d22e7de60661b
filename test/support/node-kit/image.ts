/** An image for the pods of test nodes, made of a program that each node has: nodes have no registry. */
import type { TestNode } from './node.ts';

/** It sleeps until it is stopped. Also the pause container of every pod. */
export const IMAGE = 'localhost/sleep:1';

/** One layer, with the program and its libraries, and so many bytes that no other image has. */
const SCRIPT = `set -e
folder=$(mktemp -d)
cd "$folder"
head -c "$2" /dev/urandom > filling
tar -c --dereference -f layer.tar filling -C / bin/sleep $(ldd /bin/sleep | grep -o '/[^ ]*' | cut -c 2-)
digest=$(sha256sum layer.tar | cut -d ' ' -f 1)
architecture=$(dpkg --print-architecture)
cat > config.json <<END
{"architecture": "$architecture", "os": "linux", "config": {"Entrypoint": ["/bin/sleep", "infinity"]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]}}
END
cat > manifest.json <<END
[{"Config": "config.json", "RepoTags": ["$1"], "Layers": ["layer.tar"]}]
END
tar -cf image.tar manifest.json config.json layer.tar
ctr --namespace k8s.io image import image.tar
rm -r "$folder"
`;

/** Into the containerd of the node, which runs. */
export async function importImage(node: TestNode): Promise<void> {
  await importImageAs(node, IMAGE, 0);
}

/** The same program under another name, with so many bytes more. */
export async function importImageAs(node: TestNode, name: string, bytes: number): Promise<void> {
  await node.run('sh', '-c', SCRIPT, 'sh', name, String(bytes));
}
