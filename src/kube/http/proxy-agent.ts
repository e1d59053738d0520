/** A module of its own, since a CommonJS package that is itself imported on demand loses its names in a bundle. */
import debug from 'debug';

/**
 * With DEBUG in the environment the proxy libraries would write the proxy's whole URL to stderr, password and all. Here,
 * and not in the bundler's settings, so that it holds from source too; the variable itself stays as it is, since
 * credential plugins inherit it.
 */
debug.log = () => {};

export { ProxyAgent } from 'proxy-agent';
