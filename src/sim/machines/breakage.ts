/** What a run breaks on purpose, to show that its promise is judged: the grants of the set, what it reads, or what a provider finds. */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import type { Grant, GrantAsk, GrantPort } from '../../api/grants.ts';
import type { View } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Provider } from '../../providers/contract.ts';

export const SET_BREAKAGES = [
  /** The set deletes machines without asking the Defender. */
  'GrantIgnored',
  /** Neither the set nor the Defender reads holds. */
  'HoldIgnored',
  /** The provider finds no instance by its tags. */
  'TagsIgnored',
] as const;
export type SetBreakage = (typeof SET_BREAKAGES)[number];

type SetGrants = Pick<GrantPort, 'ask' | 'settle'>;

export function setGrantsWith(grants: SetGrants, broken: SetBreakage | undefined): SetGrants {
  if (broken !== 'GrantIgnored') return grants;
  return {
    ask: (asks) => Promise.resolve(asks.map(inventedGrant)),
    settle: (settlements) => grants.settle(settlements),
  };
}

function inventedGrant({ machine, action, risk }: GrantAsk): Grant {
  const never = new Date(0).toISOString();
  const grant = {
    granted: true,
    id: 'none',
    fence: 0,
    machine,
    action,
    risk,
    issuedAt: never,
    notAfter: never,
  };
  return grant as Grant;
}

type ProcessViews = Readonly<Record<string, View>>;

export function setViewsWith(views: ProcessViews, broken: SetBreakage | undefined): ProcessViews {
  const view = views[MACHINES.kind];
  if (broken !== 'HoldIgnored' || !view) return views;
  const { store } = view;
  const list = (): readonly KubeObject[] => store.list().map((each) => unheld(each as Machine));
  return { ...views, [MACHINES.kind]: { ...view, store: { ...store, list } } };
}

type SetClient = Pick<Client, 'pages'>;

export function setClientWith(client: SetClient, broken: SetBreakage | undefined): SetClient {
  if (broken !== 'HoldIgnored') return client;
  return {
    pages: async function* pages(...call: Parameters<SetClient['pages']>) {
      for await (const page of client.pages<Machine>(...call)) {
        yield { ...page, items: page.items.map(unheld) as never };
      }
    },
  };
}

export function withoutGuards(broken: SetBreakage | undefined): ReadonlySet<string> | undefined {
  return broken === 'HoldIgnored' ? new Set(['held']) : undefined;
}

function unheld({ spec, ...machine }: Machine): Machine {
  const { hold: _, ...rest } = spec;
  return { ...machine, spec: rest };
}

export function providerWith(provider: Provider, broken: SetBreakage | undefined): Provider {
  return broken === 'TagsIgnored' ? { ...provider, find: () => Promise.resolve([]) } : provider;
}
