/** Names what ends the wait for a client of a rotation. Pure. */

/**
 * Names what moves a client. `Return`: its agent is silent. `Join`: it has never joined. `Grant`: a restart needs one. `Correct`: its agent refuses what
 * is published. `Replace`: it can never follow. `Fill`: its token is signed again. `Reach`: sync uses its kubeconfig. `Wait`: time alone.
 */
export type Remedy = 'Return' | 'Join' | 'Grant' | 'Correct' | 'Replace' | 'Fill' | 'Reach' | 'Wait';

interface Client {
  /** As `Machine m-1`. */
  readonly name: string;
  readonly remedy: Remedy;
}

const HINTS: Readonly<Record<Remedy, (object: string) => string>> = {
  Replace: () => 'change or remove what cannot follow',
  Return: () => 'bring agents back that are silent, or delete their Machines',
  Join: (name) => `make a new token: kubenode machine token ${name}`,
  Correct: (name) => `solve what the agent of ${name} refuses`,
  Grant: (name) => `kubenode why machine ${name} shows what its restart waits for`,
  Fill: () => 'delete the key `token` of each Secret: it is filled again',
  Reach: () => 'sync has to reach the cluster with its new kubeconfig, which it reports within five minutes',
  Wait: () => 'nothing to do for some minutes',
};

/** A longer text would leave no room for the names. */
const MAX_HINT = 150;

/** Names each remedy once, with the first client that needs it. Time alone is named where nothing else is. */
export function remedyHint(clients: readonly Client[]): string {
  const hints = (Object.keys(HINTS) as Remedy[]).flatMap((remedy) => {
    const first = clients.find((each) => each.remedy === remedy);
    return first ? [HINTS[remedy](first.name.split(' ').at(-1) ?? '')] : [];
  });
  const [only = HINTS.Wait(''), ...others] = hints.filter((hint) => hint !== HINTS.Wait(''));
  return others.reduce(
    (text, hint) => (`${text}; ${hint}`.length > MAX_HINT ? text : `${text}; ${hint}`),
    only,
  );
}
