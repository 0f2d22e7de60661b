/** What a controller sees of a kind when a guard is taken out: the facts that the guard decides by, changed so that it never stops anything. */
import type { Store } from '../../kube/cache/store.ts';
import type { View } from '../../kube/cache/view.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';

type ProcessViews = Readonly<Record<string, View>>;

/** Without a `show`, the views as they are. */
export function viewsShowing<T extends KubeObject>(
  views: ProcessViews,
  { kind }: Resource<T>,
  show: ((object: T) => T) | undefined,
): ProcessViews {
  const view = views[kind] as View<T> | undefined;
  if (!show || !view) return views;
  const { store } = view;
  const shown: Store<T> = {
    ...store,
    list: () => store.list().map(show),
    get: (key) => {
      const found = store.get(key);
      return found && show(found);
    },
  };
  return { ...views, [kind]: { ...view, store: shown } };
}
