/** A page that a test follows as printed, and what the page promises after some of its statements. */
import { type Act, type Expectation, followPage } from '../../support/page/follow.ts';
import { readPage } from '../../support/page/page.ts';
import type { Person } from '../../support/page/person.ts';
import { isLeftOut } from './not-executed.ts';

export interface Guide {
  readonly path: string;
  /** What its reader has before. */
  readonly before?: Act;
  readonly expectations: readonly Expectation[];
  /** What it prints and this machine does not have, or others use on it at the same time, with what the reader takes instead. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** Resolves to the number of statements that were entered. */
export async function follow(person: Person, guide: Guide): Promise<number> {
  const { path, before, expectations } = guide;
  return await followPage({
    page: readPage(path),
    ...(before === undefined ? {} : { before }),
    expectations,
    isLeftOut: (title, statement) => isLeftOut(path, title, statement),
    instead: { '/tmp/': `${person.user.home}/`, ...guide.instead },
    terminal: person.terminal,
  });
}

/** Each cluster of the hub runs the newest commit of the repository, and proved it. */
export function proven(repository: string, clusters = 3): Act {
  return async (reader) => {
    const head = (await reader.run(`git -C ${repository} rev-parse HEAD`)).stdout.trim();
    await reader.shows('npx kubenode status -o json', (stdout) => {
      const status = JSON.parse(stdout) as { readonly clusters: readonly Readonly<Record<string, string>>[] };
      const found = status.clusters.filter(({ state, commit }) => state === 'Proven' && commit === head);
      return found.length === clusters && status.clusters.length === clusters;
    });
  };
}

/** The line that creates a Machine of provider local whose agent somebody else starts. */
export function machineOf(name: string): string {
  return `kubectl apply -f - <<'EOF'
apiVersion: kubenode.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec: {infra: {provider: local}, host: {type: sandbox}}
EOF`;
}
