import { type Dispatcher } from 'undici';
import { type ConnectionFactory } from '../../service/connections';

/** The same connections; every error of a request is told before the client makes a result without its cause of it. */
export function watchedConnections(
  connections: ConnectionFactory,
  onError: (error: unknown) => void,
): ConnectionFactory {
  return (origin, settings) => {
    const { dispatcher, viaProxy } = connections(origin, settings);
    const watched = dispatcher.compose(
      (dispatch) => (options, handler) => dispatch(options, watching(handler, onError)),
    );
    return { dispatcher: watched, viaProxy };
  };
}

function watching(
  handler: Dispatcher.DispatchHandler,
  onError: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (name === 'onResponseError') onError(args[1]);
        if (name === 'onError') onError(args[0]);
        return Reflect.apply(value, target, args);
      };
    },
  });
}
