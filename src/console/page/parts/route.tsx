/** Follows the address of the page, and changes it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { HOME, machineAddress, type PageRoute, pageAddress, routeOf } from '../../state/pages/address.ts';

export interface Navigation {
  readonly route: PageRoute;
  readonly openMachine: (key: string) => void;
  readonly closeMachine: () => void;
}

export function useNavigation(): Navigation {
  const [route, setRoute] = useState(() => routeOf(location.hash, HOME));
  const current = useRef(route);
  current.current = route;
  /** How many entries of the history machines have added since the page was left. */
  const added = useRef(0);
  const isReplacing = useRef(false);
  useEffect(() => {
    const follow = (): void => {
      const next = routeOf(location.hash, current.current);
      if (next.machine === undefined) added.current = 0;
      else if (!isReplacing.current) added.current += 1;
      isReplacing.current = false;
      setRoute(next);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const actions = useMemo(() => ({ openMachine, closeMachine }), []);
  return { route, ...actions };

  /** A machine that is opened while another one is open takes its place: Back returns to the page. */
  function openMachine(key: string): void {
    const { machine } = current.current;
    if (machine === key) return;
    isReplacing.current = machine !== undefined;
    if (isReplacing.current) location.replace(machineAddress(key));
    else location.hash = machineAddress(key);
  }

  function closeMachine(): void {
    const { page, filters, machine } = current.current;
    if (machine === undefined) return;
    if (added.current === 1) history.back();
    else location.hash = pageAddress(page, filters);
  }
}
