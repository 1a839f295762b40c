"""`python -m incremental_crawl`: the command line."""

if __name__ == "__main__":
    from incremental_crawl.cli import main

    main()
